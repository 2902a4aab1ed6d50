"""Who is measured: Tasklane, Mastra's tools, and the database alone."""

import glob
import http.client
import json
import os
import re
import resource
import socket
import sqlite3
import subprocess
import time

from measure import cpu_seconds, memory_mib, percentile

HERE = os.path.dirname(os.path.abspath(__file__))
# How many threads there are for each size of a list.
THREADS = {10: 1_000, 100: 200, 1_000: 20}


class Void(Exception):
    """The run does not count."""


def prefix(tasks):
    return f"list{tasks}-"


def timed(command, seconds, environment=None):
    """Runs a load generator and returns what it said, and the processor time that it took itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _first_list(tasks):
    status = lambda at: "in_progress" if at == 1 else "completed" if at % 3 == 0 else "pending"
    text = "the step number"
    return {"tasks": [
        {"id": f"task_{at}", "content": f"Do {text} {at} of the job", "status": status(at), "activeForm": f"Doing {text} {at}"}
        for at in range(1, tasks + 1)
    ]}


class Server:
    """A contender behind HTTP, loaded by wrk."""

    def __init__(self, name, command, environment, folder):
        self.name = name
        self.port = _free_port()
        self.log = open(f"{folder}/{name}.log", "w", encoding="utf-8")
        port = {"PORT": str(self.port), "TASKLANE_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment, **port}, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL
        )
        self._wait()
        self.idle_mib = memory_mib(self.process.pid)[0]

    def _wait(self):
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended, see {self.log.name}")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"{self.name} does not listen, see {self.log.name}")

    def seed(self, sizes):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for tasks in sizes:
            body = json.dumps(_first_list(tasks))
            for at in range(1, THREADS[tasks] + 1):
                path = f"/threads/{prefix(tasks)}{at}/tools/task_write"
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"{self.name}: {text[:300]}")
        connection.close()

    def revisions(self):
        """Returns the sum of all revisions, if the contender counts any."""
        return None

    def run(self, scenario, seconds, salt):
        before, cpu = self.revisions(), cpu_seconds(self.process.pid)
        command = [
            "wrk", "--latency", "--timeout", "10s", "-t", str(min(2, scenario.connections)), "-c", str(scenario.connections),
            "-d", f"{seconds}s", "-s", f"{HERE}/load.lua", f"http://127.0.0.1:{self.port}", "--",
            scenario.operation, prefix(scenario.tasks), str(scenario.threads), str(scenario.tasks), str(salt),
        ]
        done, load_cpu = timed(command, seconds)
        done.check_returncode()
        line = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
        result = json.loads(line[1])
        if result["refused"] or result["broken"]:
            raise Void(f"{result['refused']} answers were refusals, {result['broken']} did not come")
        grown = None if before is None or scenario.is_read else self.revisions() - before
        # What was under way at the end was not acknowledged but may have happened.
        if grown is not None and not 0 <= grown - result["answers"] <= scenario.connections:
            raise Void(f"{result['answers']} changes were acknowledged, {grown} happened")
        return {
            "per_second": result["answers"] * 1e6 / result["microseconds"],
            "p50_us": result["p50_us"], "p99_us": result["p99_us"],
            "answers": result["answers"], "grown": grown,
            "cpu_seconds": cpu_seconds(self.process.pid) - cpu, "load_cpu_seconds": load_cpu, "memory_mib": memory_mib(self.process.pid)[0],
            "memory_mib_max": memory_mib(self.process.pid)[1],
        }

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class TasklanePostgres(Server):
    def __init__(self, binary, postgres, folder):
        self.postgres = postgres
        postgres.ask("postgres", "create database tasklane")
        super().__init__("tasklane_postgres", [binary], {"DATABASE_URL": postgres.url("tasklane")}, folder)

    def revisions(self):
        return int(self.postgres.ask("tasklane", "select coalesce(sum(revision), 0) from thread"))


class TasklaneSqlite(Server):
    def __init__(self, binary, folder):
        self.file = f"{folder}/tasklane.db"
        super().__init__("tasklane_sqlite", [binary], {"DATABASE_URL": f"sqlite://{self.file}"}, folder)

    def revisions(self):
        connection = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute("select coalesce(sum(revision), 0) from thread").fetchone()[0]
        finally:
            connection.close()


class Mastra(Server):
    def __init__(self, packages, postgres, folder):
        postgres.ask("postgres", "create database mastra")
        environment = {"DATABASE_URL": postgres.url("mastra"), "PACKAGES": packages, "NODE_ENV": "production",
                       "MASTRA_TELEMETRY_DISABLED": "1"}
        super().__init__("mastra", ["node", f"{HERE}/mastra/server.mjs"], environment, folder)


class Pgbench:
    """The database alone: one statement of Tasklane's a transaction, prepared, by the database's own load generator."""

    name = "pgbench"
    idle_mib = None

    def __init__(self, postgres, statements, settings, folder):
        self.postgres, self.folder, self.runs = postgres, folder, 0
        self.settings = settings
        self.scripts = {}
        for operation, text in statements.items():
            self.scripts[operation] = f"{folder}/{operation}.pgbench"
            with open(self.scripts[operation], "w", encoding="utf-8") as file:
                file.write(text)

    def run(self, scenario, seconds, _):
        self.runs += 1
        for old in glob.glob(f"{self.folder}/transactions.*"):
            os.unlink(old)
        before = int(self.postgres.ask("pgbench", "select count(*) from change"))
        given = {"threads": scenario.threads, "tasks": scenario.tasks, "prefix": prefix(scenario.tasks), "counter": 0,
                 "base": self.runs * 10**13}
        command = [f"{self.postgres.bin}/pgbench", "-n", "-M", "prepared", "-c", str(scenario.connections), "-j", "2",
                   "-T", str(seconds), "-f", self.scripts[scenario.operation], "-l",
                   f"--log-prefix={self.folder}/transactions", "-h", "127.0.0.1", "-p", str(self.postgres.port), "-U", "postgres"]
        for name, value in {**given, **self.settings["variables"]}.items():
            command += ["-D", f"{name}={value}"]
        done, load_cpu = timed([*command, "pgbench"], seconds, {**os.environ, "PGOPTIONS": self.settings["options"]})
        if done.returncode:
            raise Void(done.stderr[-500:])
        answers = int(re.search(r"transactions actually processed: (\d+)", done.stdout)[1])
        per_second = float(re.search(r"tps = ([\d.]+) \(without", done.stdout)[1])
        grown = int(self.postgres.ask("pgbench", "select count(*) from change")) - before
        took = sorted(self._times())
        return {"per_second": per_second, "p50_us": percentile(took, 0.5), "p99_us": percentile(took, 0.99),
                "answers": answers, "grown": grown if not scenario.is_read else None,
                "cpu_seconds": 0.0, "load_cpu_seconds": load_cpu, "memory_mib": 0.0, "memory_mib_max": 0.0}

    def _times(self):
        for name in glob.glob(f"{self.folder}/transactions.*"):
            with open(name, encoding="ascii") as file:
                for line in file:
                    yield int(line.split()[2])

    def stop(self):
        pass
