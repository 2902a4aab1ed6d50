"""Makes scripts for pgbench of the very statements that Tasklane sends, as the server saw them."""

import http.client
import json
import re

# What Tasklane's connections are told, so that the plans are the same.
OPTIONS = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off -c plan_cache_mode=force_generic_plan"

THREAD = [":prefix || :t::text"]
# The parameters of the commit, in order. The version stays what it is, so that the next commit finds the one that it expects.
COMMIT = [
    ["'default'"], THREAD, ["1"], ["1"], [":revision"], ["1"], ["null"], ["1"], ["0"], ["null"], [":tasks"], ["3"], ["1"],
    ["true"], ["false"], ["now()"], ["(extract(epoch from now()) / 60)::bigint"],
    [], [],
    ["1"], ["'task_' || :k::text"], [":k"], [":content"], ["'pending'"], [":form || :revision::text"], ["''"], ["null"],
    ["'{}'"], ["'[]'"], ["null"], ["null"], ["now()"], ["now()"], ["null"], [":revision"], ["1"],
    ["1"], [":revision"], ["1"], ["'task_update'"], ["'anonymous'"], ["now()"], [":ops"],
    [], [], [], [], [], [],
]
CHOICE = "\\set t random(1, :threads)\n\\set k random(1, :tasks)\n"


def captured(postgres, server):
    """Lets Tasklane read and change a list, and returns what the server saw of it, and the change that was stored."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for tool, body in (("task_update", {"id": "task_1", "activeForm": "Looking at it"}), ("task_check", {})):
        connection.request("POST", "/threads/list10-1/tools/" + tool, json.dumps(body), {"Content-Type": "application/json"})
        connection.getresponse().read()
    seen = postgres.ask("tasklane", "select json_agg(distinct query) from pg_stat_activity where application_name = 'tasklane'")
    ops = postgres.ask("tasklane", "select ops from change where thread = 'list10-1' order by revision desc limit 1")
    return json.loads(seen), ops


def commit_script(statement):
    def literal(match):
        values = COMMIT[int(match[1]) - 1]
        return f"array[{', '.join(values)}]::{match[2]}[]" if values else f"'{{}}'::{match[2]}[]"

    text = re.sub(r"\$(\d+)::([a-z]+)\[\]", literal, statement.strip())
    if "$" in text:
        raise RuntimeError("the commit has other parameters than the bench knows")
    return f"{CHOICE}\\set counter :counter + 1\n\\set revision :base + :client_id * 1000000000 + :counter\n{text};\n"


def read_script(statement):
    text = statement.strip().replace("$1", "'default'").replace("$2", f"({THREAD[0]})")
    return f"{CHOICE}{text};\n"
