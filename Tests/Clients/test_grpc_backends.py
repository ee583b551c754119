"""What a gRPC client hears from Envoy when Assay denies its call: the client library decides by it whether to try again."""

import concurrent.futures

import grpc
import pytest

from client import AppCheck, debug_token, refuses_token
from proxies import Envoy, EnvoyOverGRPC
from server import APP, DEBUG_TOKEN, POLICY, Server

BACKENDS = """\
    consumers:
      custom_backend:
        tokens: {accept_development: true}
        backends:
          orders: {original_request: x-original, success_status: 200}
          payments: {original_request: x-original, success_status: 200, tokens: {limited_use: true}}
"""
# gRPC is HTTP/2, which the ready configurations do not speak with the backend.
OVER_HTTP2 = """
    - name: orders
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: {http2_protocol_options: {}}
"""


class Echo(grpc.GenericRpcHandler):
    """Answers every call with its message, and remembers the names of its metadata."""

    def __init__(self):
        self.calls = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), handlers=[self])
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def service(self, details):
        self.calls.append([name for name, _ in details.invocation_metadata])
        return grpc.unary_unary_rpc_method_handler(lambda message, _: message)


@pytest.fixture(scope="module")
def assay(authority, apple, tmp_path_factory):
    server = Server(
        tmp_path_factory.mktemp("grpc"), authority, apple, POLICY.replace("    oauth_clients:", BACKENDS + "    oauth_clients:"),
        ["--ext-authz-listen", "127.0.0.1:0"])
    server.start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module", params=[Envoy, EnvoyOverGRPC], ids=["asks-over-http", "asks-over-grpc"])
def through(request, assay):
    """Starts Envoy in front of a backend with gRPC, for one of Assay's backends."""
    program = request.param
    if program.path() is None:
        pytest.skip("envoy is not installed")
    backend, started = Echo(), []

    def start(name):
        address = assay.check_address() if program is EnvoyOverGRPC else assay.address.removeprefix("http://")
        question = name if program is EnvoyOverGRPC else f"/verify/{name}"
        started.append(program(address, backend, question, changes={"\n    - name: orders\n": OVER_HTTP2}))
        channel = grpc.insecure_channel(started[-1].address)
        return channel.unary_unary("/example.Orders/Echo"), backend

    yield start
    for proxy in started:
        proxy.stop()
    backend.server.stop(None)


def failure(call, metadata=()):
    with pytest.raises(grpc.RpcError) as error:
        call(b"a", metadata=metadata, timeout=30)
    metadata = [*(error.value.initial_metadata() or ()), *(error.value.trailing_metadata() or ())]
    return error.value.code(), [value for name, value in metadata if name == "www-authenticate"]


def test_a_denied_call_says_whether_the_token_is_why(through, assay):
    call, backend = through("orders")
    check = AppCheck(APP, assay.address, debug_token(DEBUG_TOKEN))
    for metadata in [(), [("x-firebase-appcheck", "a.b.c")]]:
        code, challenges = failure(call, metadata)
        assert code == grpc.StatusCode.UNAUTHENTICATED
        assert len(challenges) == 1 and refuses_token(challenges[0])
    assert backend.calls == []
    assert call(b"a", metadata=[("x-firebase-appcheck", check.token().text)], timeout=30) == b"a"
    assert len(backend.calls) == 1


def test_a_token_that_may_not_be_used_there_is_no_reason_for_another_try(through, assay):
    call, _ = through("payments")
    token = AppCheck(APP, assay.address, debug_token(DEBUG_TOKEN)).token()
    code, challenges = failure(call, [("x-firebase-appcheck", token.text)])
    assert (code, challenges) == (grpc.StatusCode.PERMISSION_DENIED, [])
