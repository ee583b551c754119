"""`serve --sink webhook:URL`, with a server that receives the records."""

import contextlib
import http.server
import json
import socket
import threading
import time

import pytest
import requests

from server import APP, DEBUG_TOKEN, Server

SECRET = "the-secret-of-the-receiver"


class Receiver:
    """A server that takes lines of JSON from who knows the secret, and can be stopped and started again."""

    def __init__(self):
        self.lines, self.status, self.refused = [], 200, 0
        self.port, self.connections = 0, []
        self.start()

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                receiver.connections.append(self.connection)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.status if self.headers["Authorization"] == f"Bearer {SECRET}" else 401
                if status == 200:
                    receiver.lines += [json.loads(line) for line in body.splitlines()]
                else:
                    receiver.refused += 1
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def decisions(self):
        return [line["decision"] for line in self.lines if "decision" in line]


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def start(authority, apple, tmp_path, receiver):
    """Starts a server that sends its records to the receiver."""
    servers = []

    def start(*arguments):
        secret = tmp_path / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        sink = f"webhook:http://127.0.0.1:{receiver.port}/records#bearer=file:{secret}"
        server = Server(tmp_path, authority, apple, arguments=("--sink", sink, *arguments))
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        if server.process.poll() is None:
            assert server.stop() == 0


def exchange(server, token=DEBUG_TOKEN):
    return requests.post(
        f"{server.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": token}, timeout=30)


def decide(server, count):
    """Makes decisions, good and bad ones by turns; returns their identifiers."""
    replies = [exchange(server, DEBUG_TOKEN if i % 2 else "00000000-0000-4000-8000-000000000000") for i in range(count)]
    assert [reply.status_code for reply in replies] == [200 if i % 2 else 403 for i in range(count)]
    return [reply.headers["x-assay-decision"] for reply in replies]


def metric(server, name):
    text = requests.get(f"{server.address}/metrics", timeout=30).text
    return [float(line.split()[-1]) for line in text.splitlines() if line.startswith(f'{name}{{sink="webhook"}}')]


def test_receiver_that_goes_away(start, receiver):
    server = start()
    decisions = decide(server, 4)
    until(lambda: receiver.decisions() == decisions)
    assert all(SECRET not in json.dumps(line) and DEBUG_TOKEN not in json.dumps(line) for line in receiver.lines)

    receiver.stop()
    decisions += decide(server, 6)
    until(lambda: metric(server, "assay_sink_failures_total") > [0])
    # Decisions continue, and an operator sees the loss.
    ready = requests.get(f"{server.address}/readyz", timeout=30)
    assert ready.status_code == 200
    assert "the sink webhook does not take records" in ready.text
    assert metric(server, "assay_sink_records_waiting") == [6]

    receiver.start()
    until(lambda: receiver.decisions() == decisions)
    until(lambda: "does not take records" not in requests.get(f"{server.address}/readyz", timeout=30).text)
    assert metric(server, "assay_sink_records_lost_total") == [0]
    log = (server.folder / "log").read_text()
    assert log.count("a sink does not take records, which wait") == 1
    assert log.count("a sink takes records again") == 1
    assert SECRET not in log

    # What waits at the end is sent before the process ends.
    decisions += [exchange(server).headers["x-assay-decision"] for _ in range(40)]
    assert server.stop() == 0
    assert receiver.decisions() == decisions


def test_required_sink(start, receiver):
    receiver.status = 503
    server = start("--sink-required")
    exchange(server)
    until(lambda: receiver.refused > 0)
    until(lambda: requests.get(f"{server.address}/readyz", timeout=30).status_code == 503)
    assert exchange(server).status_code == 503
    receiver.status = 200
    until(lambda: requests.get(f"{server.address}/readyz", timeout=30).status_code == 200)
    reply = exchange(server)
    assert reply.status_code == 200
    until(lambda: receiver.decisions()[-1:] == [reply.headers["x-assay-decision"]])


def test_records_that_are_refused_for_good(start, receiver):
    server = start()
    # The start of the server is a record, too.
    until(lambda: metric(server, "assay_sink_records_written_total") == [1])
    receiver.status = 413
    lost = decide(server, 2)
    until(lambda: metric(server, "assay_sink_records_lost_total") == [2])
    receiver.status = 200
    later = decide(server, 2)
    until(lambda: receiver.decisions() == later)
    assert not set(lost) & set(receiver.decisions())


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--sink", "webhook:http://logs.example.com/"], "http is for localhost only"),
        (["--sink", "webhook:https://logs.example.com/#bearer=env:NOT_THERE"], "NOT_THERE"),
        (["--sink", "kafka:somewhere"], "webhook:URL"),
        (["--sink-required"], "--sink SCHEME:LOCATION"),
    ])
def test_wrong_sinks(authority, apple, tmp_path, arguments, words):
    server = Server(tmp_path, authority, apple, arguments=arguments)
    with pytest.raises(RuntimeError) as error:
        server.start()
    assert words in str(error.value)
    assert server.process.wait(timeout=30) in (1, 2, 64)
