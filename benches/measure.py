"""What a run is measured with: the database's own view, processor time, memory, percentiles."""

import os
import subprocess

TICKS = os.sysconf("SC_CLK_TCK")


class Postgres:
    """The private server that all contenders share, each in a database of its own."""

    def __init__(self, bin_folder, port, postmaster):
        self.bin = bin_folder
        self.port = port
        self.postmaster = postmaster

    def url(self, database):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def ask(self, database, sql):
        command = [f"{self.bin}/psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, self.url(database)]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout.strip()

    def hold_open(self, database):
        """Begins a transaction that sees an old state and goes on until it is ended."""
        command = [f"{self.bin}/psql", "-X", "-q", self.url(database)]
        session = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        session.stdin.write("begin isolation level repeatable read;\nselect count(*) from pg_class;\n")
        session.stdin.flush()
        return session

    def cpu_seconds(self):
        """Counts sessions that have ended, too: the postmaster inherits their time."""
        own = _times(self.postmaster)
        return sum(own) + sum(sum(_times(pid)[:2]) for pid in _children(self.postmaster))


def _stat(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def _times(pid):
    try:
        return [int(ticks) / TICKS for ticks in _stat(pid)[11:15]]
    except (FileNotFoundError, ProcessLookupError):
        return [0.0, 0.0, 0.0, 0.0]


def _children(parent):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if _stat(name)[1] == str(parent):
                    found.append(int(name))
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


def cpu_seconds(pid):
    return sum(_times(pid)[:2])


def memory_mib(pid):
    """Returns what is resident now, and the most that ever was."""
    values = {}
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM"):
                values[name] = int(value.split()[0]) / 1024
    return values["VmRSS"], values["VmHWM"]


def percentile(sorted_values, share):
    if not sorted_values:
        return 0
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


def machine():
    """Describes the machine in general terms."""
    with open("/proc/meminfo", encoding="ascii") as file:
        kib = int(next(line for line in file if line.startswith("MemTotal")).split()[1])
    return {"cores": os.cpu_count(), "memory_gib": round(kib / 1024 / 1024)}
