"""Measures Tasklane beside Mastra's tools and the database alone, in rounds that take turns. `scripts/bench` calls it."""

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import report
import statements
from contenders import THREADS, Mastra, Pgbench, TasklanePostgres, TasklaneSqlite, Void
from measure import Postgres, machine

ALL = ("tasklane_postgres", "tasklane_sqlite", "mastra", "pgbench")
OURS = ("tasklane_postgres", "tasklane_sqlite")


@dataclasses.dataclass(frozen=True)
class Scenario:
    group: str
    operation: str
    contenders: tuple
    tasks: int = 10
    connections: int = 64
    hot: bool = False
    long_transaction: bool = False

    @property
    def threads(self):
        return 1 if self.hot else THREADS[self.tasks]

    @property
    def is_read(self):
        return self.operation in ("task_check", "get")

    @property
    def name(self):
        where = "one thread" if self.hot else f"{self.threads:,} threads"
        held = ", beside a long transaction" if self.long_transaction else ""
        return f"{self.operation}, {self.tasks:,} tasks, {where}, {self.connections} connections{held}"


def scenarios(quick):
    no_pgbench = ALL[:3]
    yield Scenario("main", "task_check", ALL)
    yield Scenario("main", "task_update", ALL)
    yield Scenario("main", "task_write", no_pgbench)
    yield Scenario("hot", "task_update", no_pgbench, hot=True)
    for connections in (1,) if quick else (1, 16, 256):
        yield Scenario("connections", "task_update", ALL, connections=connections)
        yield Scenario("connections", "task_check", ALL, connections=connections)
    if not quick:
        yield Scenario("long transaction", "task_update", ("tasklane_postgres", "pgbench", "mastra"), long_transaction=True)
    # It adds lists by the ten thousand: what is measured beside the database alone is measured on as many lists.
    yield Scenario("main", "TaskCreate", OURS)
    # Last, since what a process holds of long lists stays with it for a while.
    for tasks in (10, 1_000) if quick else (10, 100, 1_000):
        yield Scenario("sizes", "patch_minimal", OURS, tasks=tasks)
        if not quick and tasks > 10:
            yield Scenario("sizes", "task_check", no_pgbench, tasks=tasks)
            yield Scenario("sizes", "task_update", no_pgbench, tasks=tasks)
            yield Scenario("sizes", "task_write", no_pgbench, tasks=tasks)


def measured(scenario, contenders, postgres, rounds, seconds):
    """Runs the contenders in turn, round by round."""
    runs = {name: [] for name in scenario.contenders if name in contenders}
    databases = {"tasklane_postgres": "tasklane", "mastra": "mastra", "pgbench": "pgbench"}
    for turn in range(rounds):
        for name, done in runs.items():
            postgres.ask("postgres", "checkpoint")
            held = postgres.hold_open(databases[name]) if scenario.long_transaction else None
            cpu = postgres.cpu_seconds()
            try:
                run = contenders[name].run(scenario, seconds, next_salt())
            except Void as void:
                run = {"void": str(void)}
            if held:
                held.stdin.close()
                held.wait(30)
            done.append({**run, "database_cpu_seconds": postgres.cpu_seconds() - cpu})
            figure = f"{run['per_second']:>9,.0f}/s  p50 {run['p50_us'] / 1000:.2f} ms" if "void" not in run else f"void: {run['void']}"
            print(f"    {turn + 1}/{rounds} {name:<18} {figure}", flush=True)
    return {name: medians(done) for name, done in runs.items()}


salts = iter(range(1, 1_000_000))


def next_salt():
    return next(salts)


def medians(runs):
    good = [run for run in runs if "void" not in run]
    result = {"runs": runs, "void": len(runs) - len(good)}
    if good:
        numbers = [key for key, value in good[0].items() if isinstance(value, (int, float))]
        result |= {key: statistics.median(run[key] for run in good) for key in numbers}
    return result


def prepared(options, postgres, folder):
    """Starts the contenders and gives each its lists."""
    started = {}
    try:
        started["tasklane_postgres"] = TasklanePostgres(options.tasklane, postgres, folder)
        started["tasklane_sqlite"] = TasklaneSqlite(options.tasklane, folder)
        if options.mastra:
            started["mastra"] = Mastra(options.mastra, postgres, folder)
        for server in started.values():
            server.seed(sorted(THREADS))
        seen, ops = statements.captured(postgres, started["tasklane_postgres"])
        # The one for lists that are there already.
        commit = next(text for text in seen if "locked as materialized" in text and "born as" not in text)
        with open(f"{options.benches}/read.sql", encoding="utf-8") as file:
            read = file.read()
        # Templates cannot be copied while somebody is connected.
        dump_and_restore(postgres, "tasklane", "pgbench")
        postgres.ask("pgbench", "update thread set version = 1")
        postgres.ask("pgbench", "vacuum analyze")
        scripts = {"task_update": statements.commit_script(commit), "task_check": statements.read_script(read)}
        variables = {"ops": ops, "content": "Do the step number 5 of the job", "form": "Doing it again, "}
        settings = {"options": statements.OPTIONS, "variables": variables}
        started["pgbench"] = Pgbench(postgres, scripts, settings, folder)
        return started
    except BaseException:
        for contender in started.values():
            contender.stop()
        raise


def dump_and_restore(postgres, source, target):
    postgres.ask("postgres", f"create database {target}")
    dump = subprocess.Popen([f"{postgres.bin}/pg_dump", postgres.url(source)], stdout=subprocess.PIPE)
    restore = [f"{postgres.bin}/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", postgres.url(target)]
    subprocess.run(restore, stdin=dump.stdout, stdout=subprocess.DEVNULL, check=True, timeout=600)
    if dump.wait():
        raise RuntimeError("the lists could not be copied")


def main():
    parser = argparse.ArgumentParser()
    for name in ("tasklane", "mastra", "postgres-bin", "postgres-port", "postmaster", "out"):
        parser.add_argument(f"--{name}", required=name != "mastra")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="a part of a scenario's name")
    parser.add_argument("--contenders", default=",".join(ALL))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=int)
    options = parser.parse_args()
    options.benches = os.path.dirname(os.path.abspath(__file__))
    rounds, seconds = options.rounds or (1 if options.quick else 5), options.seconds or (3 if options.quick else 6)
    postgres = Postgres(options.postgres_bin, int(options.postgres_port), int(options.postmaster))
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="tasklane-bench.") as folder:
        contenders = prepared(options, postgres, folder)
        try:
            wanted = {name: contenders[name] for name in options.contenders.split(",") if name in contenders}
            results = []
            for scenario in scenarios(options.quick):
                if options.only not in scenario.name:
                    continue
                print(f"  {scenario.name}", flush=True)
                figures = measured(scenario, wanted, postgres, rounds, seconds)
                results.append({**dataclasses.asdict(scenario), "name": scenario.name, "threads": scenario.threads, "figures": figures})
            idle = {name: contender.idle_mib for name, contender in contenders.items() if contender.idle_mib}
        finally:
            for contender in contenders.values():
                contender.stop()
    outcome = {
        "machine": machine(), "versions": report.versions(options), "rounds": rounds, "seconds": seconds, "quick": options.quick,
        "idle_mib": idle, "binary_mib": os.path.getsize(options.tasklane) / 1024 / 1024, "scenarios": results,
        "took_seconds": round(time.time() - began),
    }
    os.makedirs(options.out, exist_ok=True)
    with open(f"{options.out}/results.json", "w", encoding="utf-8") as file:
        json.dump(outcome, file, indent=1)
    report.write(outcome, options.out)
    return any(figure["void"] for result in results for figure in result["figures"].values())


if __name__ == "__main__":
    sys.exit(main())
