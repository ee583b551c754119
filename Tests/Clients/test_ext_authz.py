"""A real `assay serve --ext-authz-listen`, asked by a gRPC client that we did not write."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from authorities import Issuer
from envoy import CheckResponse, Envoy
from flood import Caller, Flood, calls_with_table

APP_ID = "1:1234567890:ios:321abc456def7890"
DEBUG_TOKEN = "0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"
TOKEN = "x-firebase-appcheck"
FINDINGS = ["x-appcheck-app-id", "x-appcheck-consumed", "x-appcheck-jti", "x-appcheck-provider"]
SERVING, SERVICE_UNKNOWN = 1, 3

POLICY = f"""\
projects:
  - number: 1234567890
    id: example-project
    apps:
      - id: {APP_ID}
        apple: {{team_id: ABCDE12345, bundle_id: com.example.app}}
        providers:
          debug: {{tokens: [{{name: local, token: "env:ASSAY_DEBUG_TOKEN"}}]}}
    consumers:
      custom_backend:
        tokens: {{accept_development: true}}
        backends:
          orders: {{}}
          payments:
            original_request: transport
            routes:
              - {{path: /pay/*, methods: [POST], tokens: {{limited_use: true}}}}
          open: {{tokens: {{enforcement: UNENFORCED}}}}
"""


class Server:
    def __init__(self, *arguments):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
        (self.folder / "policies").mkdir()
        (self.folder / "policies" / "policy.yaml").write_text(POLICY)
        self.process = subprocess.Popen(
            [os.environ["ASSAY"], "serve", "--state", "memory", "--keys", "keys", "--listen", "127.0.0.1:0",
             "--audit", "audit.jsonl", *arguments],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=open(self.folder / "log", "ab"), text=True,
            env=dict(os.environ, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN))
        line = self.process.stdout.readline()
        assert "assay listens on " in line, (self.folder / "log").read_text()
        self.address = line.split()[-1]

    def target(self):
        for _ in range(600):
            found = re.search(r"address=(\S+) .*listening for ext_authz", (self.folder / "log").read_text())
            if found:
                return found.group(1)
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def wait_for(self, words):
        for _ in range(600):
            if words in (self.folder / "log").read_text():
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def token(self, limited_use=False):
        request = urllib.request.Request(
            f"{self.address}/v1/projects/example-project/apps/{APP_ID}:exchangeDebugToken",
            json.dumps({"debug_token": DEBUG_TOKEN, "limited_use": limited_use}).encode(), method="POST")
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["token"]

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def server():
    server = Server("--ext-authz-listen", "127.0.0.1:0")
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def envoy(server):
    envoy = Envoy(server.target())
    yield envoy
    envoy.close()


@pytest.fixture(scope="module")
def token(server):
    return server.token()


def may_pass(response):
    assert response.HasField("status")
    assert response.HasField("ok_response") == (response.status.code == 0)
    assert response.HasField("denied_response") == (response.status.code != 0)
    assert not response.HasField("error_response")
    return response.status.code == 0


def findings(response):
    assert all(option.append_action == 2 for option in response.ok_response.headers)
    return {option.header.key: option.header.value for option in response.ok_response.headers}


@pytest.mark.parametrize("headers, raw", [(True, False), (False, True), (True, True)])
def test_a_good_token_passes(envoy, token, headers, raw):
    response = envoy.check([(TOKEN, token)] if headers else [], [(TOKEN, token)] if raw else [], backend="orders")
    assert may_pass(response)
    found = findings(response)
    assert sorted(found) == FINDINGS
    assert (found["x-appcheck-app-id"], found["x-appcheck-provider"]) == (APP_ID, "debug")
    assert found["x-appcheck-consumed"] == "false"
    assert TOKEN in response.ok_response.headers_to_remove


@pytest.mark.parametrize(
    "headers, raw, path",
    [
        ([], [], "/"),
        ([(TOKEN, "")], [], "/"),
        ([(TOKEN, "rubbish")], [], "/"),
        ([(TOKEN, "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==")], [], "/"),
        ([(TOKEN, "{token},{token}")], [], "/"),
        ([(TOKEN, "{token}")], [(TOKEN, "{token}"), (TOKEN, "{token}")], "/"),
        ([(TOKEN, "{token}")], [(TOKEN, "other")], "/"),
        ([], [(TOKEN, "{token}"), ("X-Firebase-AppCheck", "{token}")], "/"),
        ([("authorization", "Bearer {token}")], [], "/"),
        ([], [], "/?x-firebase-appcheck={token}"),
        ([(TOKEN, "{token}")], [], "/?page=2&appCheckToken={token}"),
    ],
)
def test_no_good_token_in_its_place_is_refused(envoy, token, headers, raw, path):
    def fill(pairs):
        return [(name, value.format(token=token)) for name, value in pairs]

    response = envoy.check(fill(headers), fill(raw), path=path.format(token=token), backend="orders")
    assert not may_pass(response)
    assert (response.status.code, response.denied_response.status.code) == (16, 401)
    names = [option.header.key for option in response.denied_response.headers]
    assert names == ["www-authenticate", "x-assay-decision"]


@pytest.mark.parametrize("backend", ["nowhere", None])
def test_a_backend_that_there_is_not_is_refused(envoy, token, backend):
    response = envoy.check([(TOKEN, token)], backend=backend)
    assert not may_pass(response)
    assert (response.status.code, response.denied_response.status.code) == (7, 403)


def test_findings_of_clients_do_not_reach_a_backend(envoy, token):
    spoofed = [
        ("x-appcheck-app-id", "spoofed"), ("x-appcheck-proof", "verified"), ("x-appcheck-role", "admin"),
        ("x_appcheck_jti", "spoofed")]
    response = envoy.check([(TOKEN, token), *spoofed], backend="orders")
    assert findings(response)["x-appcheck-app-id"] == APP_ID
    assert {"x-appcheck-proof", "x-appcheck-role", "x_appcheck_jti"} <= set(response.ok_response.headers_to_remove)
    response = envoy.check(spoofed, backend="open")
    assert may_pass(response) and findings(response) == {}
    assert {*FINDINGS, "x-appcheck-proof", "x-appcheck-role", "x_appcheck_jti"} <= set(response.ok_response.headers_to_remove)


def test_routes_depend_on_what_the_transport_says(server, envoy, token):
    session, limited = [(TOKEN, token)], [(TOKEN, server.token(limited_use=True))]
    assert may_pass(envoy.check(session, method="GET", path="/pay/1", backend="payments"))
    assert not may_pass(envoy.check(session, method="POST", path="/pay/1?x=1", backend="payments"))
    assert not may_pass(envoy.check(session, method="POST", path="/%70ay/1", backend="payments"))
    assert not may_pass(envoy.check(session, method="POST", path="//pay/1", backend="payments"))
    # Whoever else says so does not count.
    claims = [("x-original-uri", "/free"), ("x-forwarded-uri", "/free"), ("x-forwarded-method", "GET")]
    assert not may_pass(envoy.check(session + claims, method="POST", path="/pay/1", backend="payments"))
    first = envoy.check(limited, method="POST", path="/pay/1", backend="payments")
    assert may_pass(first) and findings(first)["x-appcheck-consumed"] == "true"
    assert not may_pass(envoy.check(limited, method="POST", path="/pay/1", backend="payments"))


def test_one_limited_use_token_passes_once_however_many_ask(server, envoy):
    headers = [(TOKEN, server.token(limited_use=True))]
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: may_pass(envoy.check(headers, backend="orders")), range(64)))
    assert answers.count(True) == 1


def test_the_client_of_envoy_is_put_on_record(server, envoy, token):
    response = envoy.check([(TOKEN, "rubbish")], backend="orders")
    decision = {option.header.key: option.header.value for option in response.denied_response.headers}["x-assay-decision"]
    for _ in range(600):
        lines = [json.loads(line) for line in (server.folder / "audit.jsonl").read_text().splitlines()]
        found = [line for line in lines if line.get("decision") == decision]
        if found:
            break
        time.sleep(0.05)
    assert (found[0]["method"], found[0]["peer"]) == ("verifyRequest", "192.0.2.7")


def test_a_message_that_is_too_large_fails(envoy, token):
    with pytest.raises(grpc.RpcError):
        envoy.check([(TOKEN, token), ("cookie", "a" * 300_000)], backend="orders")
    assert may_pass(envoy.check([(TOKEN, token)], backend="orders"))


def test_health(envoy):
    assert envoy.health() == SERVING
    assert envoy.health("envoy.service.auth.v3.Authorization") == SERVING
    with pytest.raises(grpc.RpcError) as caught:
        envoy.health("example.Orders")
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    watch = envoy.watch("example.Orders")
    assert next(watch).status == SERVICE_UNKNOWN
    watch.cancel()


def test_a_unix_socket_and_what_is_left_of_it():
    server = Server("--ext-authz-listen", "unix:authz.sock", "--ext-authz-forward-token")
    try:
        assert server.target() == "unix:authz.sock"
        assert (server.folder / "authz.sock").stat().st_mode & 0o777 == 0o600
        envoy = Envoy(f"unix:{server.folder}/authz.sock")
        response = envoy.check([(TOKEN, server.token())], backend="orders")
        assert may_pass(response)
        assert TOKEN not in response.ok_response.headers_to_remove
        watch = envoy.watch()
        assert next(watch).status == SERVING
    finally:
        # A watch does not hold it up.
        begin = time.monotonic()
        assert server.stop() == 0
    assert time.monotonic() - begin < 15
    assert not (server.folder / "authz.sock").exists()


def test_the_mode_of_a_unix_socket_is_chosen():
    server = Server("--ext-authz-listen", "unix:authz.sock", "--ext-authz-socket-mode", "0660")
    try:
        server.target()
        assert (server.folder / "authz.sock").stat().st_mode & 0o777 == 0o660
    finally:
        assert server.stop() == 0


def test_only_clients_of_an_authority_are_served(tmp_path):
    authority, other, own = Issuer("clients"), Issuer("others"), Issuer("server")
    certificate, key = own.issue("localhost", server=True)
    (tmp_path / "server.pem").write_bytes(certificate)
    (tmp_path / "server.key").write_bytes(key)
    (tmp_path / "server.key").chmod(0o600)
    (tmp_path / "clients.pem").write_bytes(authority.pem)
    server = Server(
        "--ext-authz-listen", "127.0.0.1:0", "--ext-authz-tls", "--tls-certificate", str(tmp_path / "server.pem"),
        "--tls-key", str(tmp_path / "server.key"), "--ext-authz-client-ca", str(tmp_path / "clients.pem"))

    def is_served(identity):
        credentials = grpc.ssl_channel_credentials(own.pem, *(reversed(identity) if identity else ()))
        envoy = Envoy(server.target(), credentials)
        try:
            return envoy.health() == SERVING
        except grpc.RpcError as error:
            assert error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            return False
        finally:
            envoy.close()

    try:
        assert is_served(authority.issue("envoy"))
        assert not is_served(None)
        assert not is_served(other.issue("envoy"))
        assert not is_served(authority.issue("envoy", server=True))
        (tmp_path / "clients.pem").write_bytes(other.pem)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("ext_authz certificates")
        assert is_served(other.issue("envoy"))
        assert not is_served(authority.issue("envoy"))
    finally:
        assert server.stop() == 0


def resident(server):
    """What the server's process has in memory, in MB."""
    status = (pathlib.Path("/proc") / str(server.process.pid) / "status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) // 1024


def test_half_open_checks_hold_no_memory_and_nobody_out():
    server = Server("--ext-authz-listen", "127.0.0.1:0")
    flood = None
    try:
        target = server.target()
        token = server.token()
        before = resident(server)
        flood = Flood(target, connections=32, streams=100, declared=255_000, withheld=10)
        flood.run(seconds=5)
        assert resident(server) - before < 250
        envoy = Envoy(target)
        assert may_pass(envoy.check([(TOKEN, token)], backend="orders"))
        # What was not refused at once is answered when its time is over, and every stream is reset.
        flood.run(seconds=60, until=lambda: not flood.open_streams())
        assert flood.open_streams() == 0
        assert may_pass(envoy.check([(TOKEN, token)], backend="orders"))
        assert resident(server) - before < 250
        envoy.close()
    finally:
        if flood:
            flood.close()
        assert server.stop() == 0


def test_clients_that_leave_do_not_end_the_connection_of_their_proxy(server, token):
    question = Envoy.question([(TOKEN, token)], backend="orders").SerializeToString()
    caller = Caller(server.target())
    try:
        for _ in range(100):
            for _ in range(20):
                caller.begin(question, resets=True)
            # The other clients of the proxy are answered on the same connection.
            answer = caller.answer(caller.begin(question))
            assert caller.goodbyes == []
            assert may_pass(CheckResponse.FromString(answer))
    finally:
        caller.close()


@pytest.mark.parametrize("space", [" ", "\t", " \t "])
def test_white_space_around_a_token_does_not_belong_to_it(envoy, token, space):
    assert may_pass(envoy.check([(TOKEN, space + token + space)], backend="orders"))
    assert may_pass(envoy.check(raw=[(TOKEN, token + space)], backend="orders"))


def test_connections_that_only_wait_do_not_keep_envoy_out():
    server = Server("--ext-authz-listen", "127.0.0.1:0")
    flood = None
    try:
        target = server.target()
        flood = Flood(target, connections=300, streams=1, declared=255_000, withheld=254_000)
        flood.run(seconds=3)
        envoy = Envoy(target)
        assert may_pass(envoy.check([(TOKEN, server.token())], backend="orders"))
        envoy.close()
    finally:
        if flood:
            flood.close()
        assert server.stop() == 0


def test_a_client_that_takes_a_huge_header_table_gets_a_small_one(server):
    assert calls_with_table(server.target(), 2**32 - 1, calls=20) == {4096}


@pytest.mark.parametrize("part", ["token", "method", "path", "backend", "extension", "name"])
@pytest.mark.parametrize("kind", ["commas", "marks", "letters"])
def test_no_text_costs_more_than_its_bytes(server, envoy, part, kind):
    text = {"commas": ",", "marks": "a\u0315\u0300\u0316", "letters": "a"}[kind] * 100_000
    text = text.encode()[:100_000].decode(errors="ignore")
    arguments = {
        "token": {"headers": [(TOKEN, text)]}, "method": {"method": text}, "path": {"path": "/" + text},
        "backend": {"backend": text}, "extension": {"extensions": {text: "v"}},
        "name": {"headers": [("x-appcheck-" + text, "v")]},
    }[part]

    def spent():
        fields = (pathlib.Path("/proc") / str(server.process.pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    envoy.check(backend="nowhere")
    begin = spent()
    for _ in range(5):
        assert not may_pass(envoy.check(**arguments))
    # Seconds of the processor for five checks, in a debug build; marks that are normalised cost a minute.
    assert spent() - begin < 2.5


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--ext-authz-listen", "127.0.0.1:0", "--ext-authz-client-ca", "ca.pem"], "--ext-authz-tls"),
        (["--ext-authz-listen", "127.0.0.1:0", "--ext-authz-socket-mode", "0660"], "Unix socket"),
        (["--ext-authz-listen", "0.0.0.0:0"], "--ext-authz-tls"),
        (["--ext-authz-listen", "127.example.com:0"], "--ext-authz-tls"),
        (["--ext-authz-listen", "unix:"], "ext-authz-listen"),
        (["--ext-authz-listen", "0.0.0.0:0", "--ext-authz-tls"], "--tls-certificate"),
        (["--ext-authz-tls"], "--ext-authz-listen"),
        (["--ext-authz-forward-token"], "--ext-authz-listen"),
    ],
)
def test_options_that_mean_nothing_are_refused(arguments, words):
    result = subprocess.run([os.environ["ASSAY"], "serve", *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert words in result.stderr
