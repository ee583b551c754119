"""Clients that read nothing, from a real server with a small budget: what they hold, and that they do not hold up its end."""

import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest

from authorities import Issuer
from envoy import Envoy
from test_ext_authz import DEBUG_TOKEN, POLICY, SERVING

STREAMS = 100
# The budget of open requests; one peer may have an eighth of it in unread replies.
MOST = 2000


class Reader:
    """A connection whose requests are answered with a short page."""

    def __init__(self, port, source, window=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 60, (source, 0)))
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.http.initiate_connection()
        if window is not None:
            self.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.statuses, self.resets = {}, {}

    def ask(self, count):
        streams = [self.http.get_next_available_stream_id() + 2 * index for index in range(count)]
        for stream in streams:
            self.http.send_headers(
                stream, [(":method", "GET"), (":scheme", "https"), (":path", "/livez"), (":authority", "a")], end_stream=True)
        self.socket.sendall(self.http.data_to_send())
        # The head of a reply needs no window.
        while any(stream not in self.statuses and stream not in self.resets for stream in streams):
            data = self.socket.recv(65536)
            assert data, "the server closed the connection"
            for event in self.http.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    self.statuses[event.stream_id] = dict(event.headers)[b":status"]
                elif isinstance(event, h2.events.StreamReset):
                    self.resets[event.stream_id] = event.error_code
            self.socket.sendall(self.http.data_to_send())
        return [self.statuses.get(stream, self.resets.get(stream)) for stream in streams]


@pytest.fixture
def server(tmp_path):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
    (folder / "policies").mkdir()
    (folder / "policies" / "policy.yaml").write_text(POLICY)
    certificate, key = Issuer("server").issue("localhost", server=True)
    (folder / "server.pem").write_bytes(certificate)
    (folder / "server.key").write_bytes(key)
    (folder / "server.key").chmod(0o600)
    process = subprocess.Popen(
        [os.environ["ASSAY"], "serve", "--state", "memory", "--keys", "keys", "--listen", "127.0.0.1:0",
         "--operations", "127.0.0.1:0", "--tls-certificate", "server.pem", "--tls-key", "server.key",
         "--ext-authz-listen", "127.0.0.1:0", "--max-streams", str(MOST), "--max-queue-time", "0"],
        cwd=folder, stdout=subprocess.PIPE, stderr=open(folder / "log", "ab"), text=True,
        env=dict(os.environ, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN))
    line = process.stdout.readline()
    assert "assay listens on " in line, (folder / "log").read_text()
    yield int(line.strip().rpartition(":")[2]), folder, process
    process.kill()
    process.wait()


def listener(folder, words):
    return re.search(rf"address=(?:http://)?([0-9.:]+) .*{words}", (folder / "log").read_text()).group(1)


def metrics(folder):
    address = listener(folder, "listening for operators")
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as reply:
        lines = reply.read().decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("assay_") and "{" not in line}


def test_unread_replies_leave_room_for_others(server):
    port, folder, _ = server
    flood = [Reader(port, "127.0.0.1", window=0) for _ in range(MOST // STREAMS + 5)]
    assert {status for reader in flood for status in reader.ask(STREAMS)} == {b"200"}
    for source in ("127.0.0.1", "127.0.0.2"):
        reader = Reader(port, source)
        assert reader.ask(50) == [b"200"] * 50
        reader.socket.close()
    now = metrics(folder)
    assert now["assay_transport_streams"] <= MOST // 8 + 50
    assert now["assay_http_unread_replies_dropped_total"] == len(flood) * STREAMS - MOST // 8
    assert now["assay_transport_refused_total"] == 0
    for reader in flood:
        reader.socket.close()


def test_a_server_ends_in_time_whatever_clients_do(server):
    """20 seconds, as documented; with TLS's closing messages, or one listener after the other, it takes 27 or more."""
    port, folder, process = server
    reader = Reader(port, "127.0.0.1", window=0)
    assert reader.ask(STREAMS) == [b"200"] * STREAMS
    silent = Reader(port, "127.0.0.1")
    shaking = socket.create_connection(("127.0.0.1", port))
    shaking.sendall(b"\x16\x03\x01\x02\x00")
    unfinished = []
    for words in ("listening for operators", "listening for ext_authz"):
        host, operations = listener(folder, words).split(":")
        unfinished.append(socket.create_connection((host, int(operations))))
    unfinished[0].sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n")
    envoy = Envoy(listener(folder, "listening for ext_authz"))
    watch = envoy.watch()
    assert next(iter(watch)).status == SERVING
    begin = time.monotonic()
    process.terminate()
    try:
        assert process.wait(timeout=60) == 0
        # Five seconds for a busy machine.
        assert time.monotonic() - begin < 25
    finally:
        envoy.close()
        for each in (reader.socket, silent.socket, shaking, *unfinished):
            each.close()
