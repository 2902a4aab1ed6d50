"""Writes what was measured as a page and a plot."""

import os
import re
import subprocess

NAMES = {
    "tasklane_postgres": "Tasklane on Postgres", "tasklane_sqlite": "Tasklane on SQLite",
    "mastra": "Mastra's tools", "pgbench": "the database alone",
}
COLORS = {"tasklane_postgres": "#2563eb", "tasklane_sqlite": "#60a5fa", "mastra": "#f59e0b", "pgbench": "#6b7280"}
PLOTTED = ("task_check", "task_update", "task_write")


def _first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "unknown"


def versions(options):
    found = {
        "postgres": _first_line(f"{options.postgres_bin}/postgres", "--version"),
        "wrk": re.sub(r"\s*\[.*", "", _first_line("wrk", "-v")),
        "node": _first_line("node", "--version"),
        "rust": _first_line("rustc", "--version"),
    }
    if options.mastra:
        for package in ("@mastra/core", "@mastra/pg"):
            with open(f"{options.mastra}/node_modules/{package}/package.json", encoding="utf-8") as file:
                found[package] = re.search(r'"version": "([^"]+)"', file.read())[1]
    return found


def find(outcome, **wanted):
    """Returns the figures of the scenario that is as described."""
    for scenario in outcome["scenarios"]:
        if all(scenario[key] == value for key, value in wanted.items()):
            return {name: figure for name, figure in scenario["figures"].items() if "per_second" in figure}
    return {}


def ratio(figures, one, other, key="per_second"):
    if one in figures and other in figures and figures[other][key]:
        return figures[one][key] / figures[other][key]
    return None


def targets(outcome):
    """Yields what was aimed at: its name, what was measured, and whether that is enough."""
    ours = "tasklane_postgres"
    main = {operation: find(outcome, group="main", operation=operation) for operation in PLOTTED}
    at_least = [
        ("task_update against the database alone", ratio(main["task_update"], ours, "pgbench"), 1.5),
        ("task_update against Mastra's tools", ratio(main["task_update"], ours, "mastra"), 7),
        ("task_check against the database alone", ratio(main["task_check"], ours, "pgbench"), 1.0),
        ("task_check against Mastra's tools", ratio(main["task_check"], ours, "mastra"), 4.5),
        ("task_write against Mastra's tools", ratio(main["task_write"], ours, "mastra"), 5),
    ]
    for name, measured, wanted in at_least:
        if measured is not None:
            yield f"{name}: at least {wanted} ×", f"{measured:.2f} ×", measured >= wanted
    for operation, figures in main.items():
        if ours in figures and "mastra" in figures:
            p99, p50 = figures[ours]["p99_us"] / 1e3, figures["mastra"]["p50_us"] / 1e3
            yield f"{operation}: p99 below the p50 of Mastra's tools", f"{p99:.1f} ms, {p50:.1f} ms", p99 < p50
    hot = find(outcome, group="hot", operation="task_update").get(ours)
    if hot:
        yield "one thread, 64 connections: at least 5,000 task_update a second", f"{hot['per_second']:,.0f}", hot["per_second"] >= 5_000
    small, large = (find(outcome, group="sizes", operation="patch_minimal", tasks=tasks) for tasks in (10, 1_000))
    if ours in small and ours in large:
        times = small[ours]["per_second"] / large[ours]["per_second"]
        yield "an update of a list of 1,000 tasks costs at most 2 × that of 10", f"{times:.2f} ×", times <= 2
    single = find(outcome, group="connections", operation="task_update", connections=1)
    if ours in single and "pgbench" in single:
        more = (single[ours]["p50_us"] - single["pgbench"]["p50_us"]) / 1e3
        yield "one connection: p50 of task_update at most 0.2 ms over the database alone", f"{more:+.2f} ms", more <= 0.2
    # The highest that it ever was, so what comes after lists of 1,000 tasks would tell of those.
    most = [scenario["figures"][ours]["memory_mib_max"] for scenario in outcome["scenarios"]
            if scenario["group"] in ("main", "hot", "connections") and "memory_mib_max" in scenario["figures"].get(ours, {})]
    if most:
        yield "resident memory under load, lists of 10 tasks: at most 60 MiB", f"{max(most):.0f} MiB", max(most) <= 60
    if ours in outcome["idle_mib"]:
        yield "resident memory idle: at most 20 MiB", f"{outcome['idle_mib'][ours]:.0f} MiB", outcome["idle_mib"][ours] <= 20
    yield "the program: below 20 MiB", f"{outcome['binary_mib']:.1f} MiB", outcome["binary_mib"] < 20


def table(scenario):
    lines = [f"### {scenario['name']}", "", "| | a second | p50 | p99 | service | database | load |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, figure in scenario["figures"].items():
        if "per_second" not in figure:
            lines.append(f"| {NAMES[name]} | void | | | | | |")
            continue
        per_call = lambda key: f"{figure[key] / figure['answers'] * 1e6:.0f} µs" if figure[key] and figure["answers"] else "–"
        lines.append(
            f"| {NAMES[name]} | {figure['per_second']:,.0f} | {figure['p50_us'] / 1e3:.2f} ms | {figure['p99_us'] / 1e3:.2f} ms"
            f" | {per_call('cpu_seconds')} | {per_call('database_cpu_seconds')} | {per_call('load_cpu_seconds')} |")
    return [*lines, ""]


def page(outcome):
    machine, found = outcome["machine"], outcome["versions"]
    lines = [
        "# Benchmarks", "",
        "Written by `scripts/bench`; do not edit. Everything ran on one machine, the load generator and the database included:",
        f"{machine['cores']} cores, {machine['memory_gib']} GiB; " + ", ".join(found[key] for key in ("postgres", "wrk", "rust")) +
        f", Node {found['node']}" + "".join(f", {key} {found[key]}" for key in ("@mastra/core", "@mastra/pg") if key in found) + ".",
        f"Contenders take turns, {outcome['rounds']} rounds of {outcome['seconds']} s each; the figures are medians.",
        "", "![Calls a second](benchmarks.svg)", "",
        "- PostgreSQL runs with `fsync` and `synchronous_commit` on, SQLite with `synchronous=full`: what is acknowledged is on disk.",
        "- Tasklane and Mastra's tools get the same tool calls with the same arguments over HTTP, from wrk. Every change changes",
        "  something, and after each run the sum of all revisions must have grown by what was acknowledged, or the run is void.",
        "- *The database alone* is pgbench with Tasklane's own statements, prepared: the whole commit of one changed task, one a",
        "  transaction, or the read of a whole list.",
        "- task_write sends all tasks of the list, of which one has changed. TaskCreate fills lists of ten.",
        "- *Service*, *database* and *load* are the processor time of each for one call.", "",
        "## What was aimed at", "", "| | measured | |", "| --- | --- | --- |",
    ]
    lines += [f"| {name} | {measured} | {'yes' if is_met else 'no'} |" for name, measured, is_met in targets(outcome)]
    lines += ["", "## All scenarios", ""]
    for scenario in outcome["scenarios"]:
        lines += table(scenario)
    return "\n".join(lines).rstrip() + "\n"


def plot(outcome):
    groups = [(operation, find(outcome, group="main", operation=operation)) for operation in PLOTTED]
    groups = [(operation, figures) for operation, figures in groups if figures]
    bars = [(operation, name, figure["per_second"]) for operation, figures in groups for name, figure in figures.items()]
    most = max((value for _, _, value in bars), default=1)
    parts, y, last = [], 34, None
    for operation, name, value in bars:
        if operation != last:
            y += 16
            parts.append(f'<text x="8" y="{y}" font-weight="bold">{operation}</text>')
            last, y = operation, y + 6
        width = 380 * value / most
        parts.append(f'<text x="168" y="{y + 13}" text-anchor="end">{NAMES[name]}</text>')
        parts.append(f'<rect x="176" y="{y}" width="{width:.1f}" height="17" fill="{COLORS[name]}"/>')
        parts.append(f'<text x="{182 + width:.1f}" y="{y + 13}">{value:,.0f}</text>')
        y += 21
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{y + 12}" font-family="sans-serif" font-size="12">'
            f'<rect width="640" height="{y + 12}" fill="white"/>'
            '<text x="8" y="22" font-size="14">Calls a second, 64 connections, 1,000 threads of 10 tasks</text>')
    return head + "".join(parts) + "</svg>\n"


def write(outcome, folder):
    with open(os.path.join(folder, "benchmarks.md"), "w", encoding="utf-8") as file:
        file.write(page(outcome))
    with open(os.path.join(folder, "benchmarks.svg"), "w", encoding="utf-8") as file:
        file.write(plot(outcome))
    for name, measured, is_met in targets(outcome):
        print(f"  {'met ' if is_met else 'MISS'}  {name}: {measured}")
