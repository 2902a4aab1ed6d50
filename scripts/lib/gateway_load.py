"""Writes and reads through a gateway until it is told to stop, and tells what its clients noticed.

usage: gateway_load.py HOST:PORT CLIENTS, ended by SIGTERM

Each client has one thread and gives every write a key. An attempt that fails is repeated once, with the same key. Exits with
1 if a client noticed anything: a call that failed twice, a task that is missing or there twice, an answer out of order.
"""

import http.client
import json
import signal
import sys
import threading
import time

host, clients = sys.argv[1], int(sys.argv[2])
stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())
PAUSE_SECONDS = 0.3


class Client(threading.Thread):
    def __init__(self, number):
        super().__init__(daemon=True)
        self.path = f"/threads/gateway-{number}/tasks"
        self.connection = None
        self.written, self.calls, self.retried, self.replayed = [], 0, [], 0
        self.noticed = []
        self.slowest_seconds = 0.0

    def attempt(self, method, path, headers, body):
        try:
            self.connection = self.connection or http.client.HTTPConnection(host, timeout=30)
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            self.replayed += answer.headers.get("Idempotency-Replayed") is not None
            if answer.status in (502, 503, 504):
                return None, f"{answer.status} {text[:200]}"
            return (answer.status, json.loads(text)), None
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            self.connection = None
            return None, repr(error)

    def call(self, method, path, key=None, body=None):
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        begin = time.monotonic()
        answer, fault = self.attempt(method, path, headers, json.dumps(body) if body else None)
        if fault:
            self.retried.append(fault)
            time.sleep(PAUSE_SECONDS)
            answer, fault = self.attempt(method, path, headers, json.dumps(body) if body else None)
        self.calls += 1
        self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - begin)
        if fault:
            self.noticed.append(f"{method} {path}: {fault}")
        return answer

    def check(self):
        answer = self.call("GET", self.path)
        if answer is None:
            return
        shown = [task["content"] for task in answer[1]["tasks"]]
        if shown != self.written:
            self.noticed.append(f"{self.path} shows {shown} where {self.written} were written")

    def run(self):
        turn = 0
        while not stopping.is_set():
            turn += 1
            content = f"task {turn}"
            answer = self.call("POST", self.path, f"create-{turn}", {"content": content})
            if answer is None:
                continue
            self.written.append(content)
            if answer[0] != 201:
                self.noticed.append(f"a creation was answered with {answer}")
            self.check()
            if len(self.written) >= 20:
                self.call("DELETE", self.path, f"clear-{turn}")
                self.written = []
        self.check()


workers = [Client(number) for number in range(clients)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
total = lambda values: sum(values)
noticed = [fault for worker in workers for fault in worker.noticed]
retried = [fault for worker in workers for fault in worker.retried]
print(f"{total(worker.calls for worker in workers)} calls of {clients} clients, {len(retried)} of them repeated once, "
      f"{total(worker.replayed for worker in workers)} answered as the first time, "
      f"slowest {max(worker.slowest_seconds for worker in workers):.1f} s, {len(noticed)} noticed")
for fault in retried[:5]:
    print("  repeated after", fault)
for fault in noticed[:20]:
    print("  noticed:", fault)
sys.exit(1 if noticed or not retried and not workers[0].calls else 0)
