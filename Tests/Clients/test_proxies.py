"""Proxies that others wrote, with the configurations that the documentation shows, in front of a backend."""

import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import time
import unicodedata
import urllib.parse
import urllib.request

import h2.config
import h2.connection
import pytest

import proofs
import tokens
from device import Device
from proxies import Backend, Caddy, Envoy, EnvoyOverGRPC, HAProxy, Nginx, Traefik, ask, free_port
from server import APP, APP_ID, APPLE_ID, DEBUG_TOKEN, NUMBER, Server

SECOND_ID, SECOND_APPLE_ID = "1:1234567890:ios:0000000000000002", "ABCDE12345.com.example.second"
OTHER_ID, OTHER_APPLE_ID = "1:9876543210:ios:0000000000000009", "ABCDE12345.com.example.other"
HEADER = "X-Firebase-AppCheck"
NAMES = ["x-appcheck-app-id", "x-appcheck-jti", "x-appcheck-provider", "x-appcheck-consumed", "x-appcheck-proof"]
HOST = "api.example.com"

POLICY = """\
projects:
  - number: NUMBER
    id: PROJECT
    apps:
      - id: APP_ID
        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
        providers:
          app_attest: {trust_anchor: ANCHOR, key_in_tokens: true}
          debug: {tokens: [{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}]}
      - id: SECOND_ID
        apple: {team_id: ABCDE12345, bundle_id: com.example.second}
        providers: {app_attest: {trust_anchor: ANCHOR}}
    consumers:
      custom_backend:
        tokens: {apps: ["APP_ID"]}
        backends: BACKENDS
  - number: 9876543210
    id: other-project
    apps:
      - id: OTHER_ID
        apple: {team_id: ABCDE12345, bundle_id: com.example.other}
        providers: {app_attest: {trust_anchor: ANCHOR}}
"""


def backends():
    """A backend for each way to be told what a client asked for, and each level of enforcement."""
    ways = {source: {"original_request": source} for source in ["x-original", "x-forwarded", "transport"]}
    # Envoy takes no other status than 200 for leave.
    ways["envoy"] = {"original_request": "x-original", "success_status": 200}
    return {
        f"{way}-{level}".lower(): {
            **settings,
            "tokens": {"enforcement": level},
            **({} if level == "OFF" else {"request_proof": {"authorities": [HOST], "required": False}}),
            "routes": [
                *([] if level == "OFF" else [{"path": "/proven/*", "methods": ["POST"], "tokens": {}, "request_proof": True}]),
                {"path": "/open/*", "methods": ["OPTIONS"], "tokens": {"enforcement": "OFF"}},
                {"path": "/payments/*", "methods": ["POST"], "tokens": {"limited_use": True}},
                {"path": "/bank", "methods": ["POST"], "tokens": {"limited_use": True}},
                {"path": "/vault/**", "methods": ["POST"], "tokens": {"limited_use": True}},
            ],
        }
        for way, settings in ways.items() for level in ["ENFORCED", "UNENFORCED", "OFF"]
    }


@pytest.fixture(scope="module")
def assay(authority, apple, tmp_path_factory):
    text = POLICY
    for name, value in {
        "SECOND_ID": SECOND_ID, "OTHER_ID": OTHER_ID, "BACKENDS": json.dumps(backends()),
    }.items():
        text = text.replace(name, value)
    server = Server(
        tmp_path_factory.mktemp("assay"), authority, apple, text, ["--ext-authz-listen", "127.0.0.1:0"])
    server.start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def backend():
    backend = Backend()
    yield backend
    backend.stop()


@pytest.fixture(scope="module")
def good(assay, authority):
    """A session token."""
    return tokens.attested(assay, authority, APP, APPLE_ID)


@pytest.fixture
def limited(assay, authority):
    return lambda: tokens.attested(assay, authority, APP, APPLE_ID, limited=True)


@pytest.fixture(scope="module")
def forger(assay, good):
    return tokens.Forger(assay, good)


def address(assay, program=None):
    """Where a proxy asks."""
    return assay.check_address() if program is EnvoyOverGRPC else assay.address.removeprefix("http://")


def question(program, backend):
    """How a proxy names a backend."""
    return backend if program is EnvoyOverGRPC else f"/verify/{backend}"


def skip_without(program):
    if program.path() is None:
        pytest.skip(f"{program.program} is not installed")


SOURCES = {
    Nginx: "x-original", Caddy: "x-forwarded", Traefik: "x-forwarded", Envoy: "envoy", EnvoyOverGRPC: "transport"}
ASKING, ALL = list(SOURCES), [*SOURCES, HAProxy]


def name(program):
    return program.configuration.removesuffix(".yaml") if program.program == "envoy" else program.program


@pytest.fixture(scope="module")
def key(assay):
    """The published key as HAProxy reads it, written by the documented command."""
    [key] = json.load(urllib.request.urlopen(f"{assay.address}/v1/jwks", timeout=30))["keys"]
    assert key["alg"] == "RS256"
    state = f"sqlite:{assay.folder / 'state.sqlite'}"
    written = subprocess.run(
        [os.environ["ASSAY"], "keys", "export", "--format", "pem", "--state", state, key["kid"]],
        check=True, capture_output=True, timeout=30).stdout
    assert written == tokens.pem(key)
    return written


@pytest.fixture(scope="module")
def proxies(assay, backend, key):
    """Starts proxies, each once for each level of enforcement."""
    started = {}

    def start(program, level="enforced"):
        skip_without(program)
        if (program, level) not in started:
            started[program, level] = program(
                address(assay, program), backend, question(program, f"{SOURCES.get(program)}-{level}"), key)
        return started[program, level]

    yield start
    for proxy in started.values():
        proxy.stop()


@pytest.fixture(params=ASKING, ids=name)
def asking(request, proxies):
    """A proxy that asks Assay, at a level of enforcement."""
    skip_without(request.param)
    return lambda level="enforced": proxies(request.param, level)


@pytest.fixture(params=ALL, ids=name)
def any_proxy(request, proxies):
    return proxies(request.param)


@pytest.fixture
def haproxy(proxies):
    return proxies(HAProxy)


@pytest.fixture
def nginx(assay, backend):
    """Starts nginx with a configuration that is changed."""
    skip_without(Nginx)
    started = []

    def start(changes):
        started.append(Nginx(address(assay), backend, "/verify/x-original-enforced", changes=changes))
        return started[-1]

    yield start
    for proxy in started:
        proxy.stop()


def about_app_check(seen):
    """The headers of a request that any backend could take for Assay's, also one that tells `-` from `_` no more."""
    found = {}
    for name, value in seen["headers"]:
        name = name.lower().replace("_", "-")
        if name.startswith("x-appcheck"):
            found.setdefault(name, []).append(value)
    return found


def said(seen):
    """What a backend is told, without what is empty."""
    found = about_app_check(seen)
    assert all(len(values) == 1 for values in found.values()), found
    return {name: values[0] for name, values in found.items() if values[0]}


def passed(answer, backend):
    """What reached the backend."""
    assert answer.status == 200, answer
    return backend.seen[-1]


def of(token, consumed=False, proof=None):
    claims = tokens.part(token, 1)
    found = dict(zip(NAMES, [claims["sub"], claims["jti"], "app_attest", str(consumed).lower(), proof]))
    return {name: value for name, value in found.items() if value}


def refused(proxy, status, *arguments, **options):
    before = len(proxy.backend.seen)
    answer = proxy.ask(*arguments, **options)
    assert answer.status == status, answer
    assert len(proxy.backend.seen) == before
    return answer


def reason(assay, position):
    """The reason of the first refusal in the log behind a position."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = re.search(rb"reason=(\w+)", (assay.folder / "log").read_bytes()[position:])
        if found:
            return found.group(1).decode()
        time.sleep(0.02)
    return None


def position(assay):
    return (assay.folder / "log").stat().st_size


# MARK: Good tokens


@pytest.mark.parametrize("headers", [
    [], [("Expect", "100-continue")], [("Connection", "Upgrade"), ("Upgrade", "websocket")], [("Range", "bytes=1-2")],
    [("If-None-Match", "*")], [("Connection", "close")],
])
@pytest.mark.parametrize("method, body", [
    ("GET", None), ("HEAD", None), ("DELETE", None), ("POST", b"a body"), ("PUT", [b"in ", b"chunks"]),
])
def test_good_token(asking, backend, good, method, body, headers):
    if "Upgrade" in dict(headers) and not asking().forwards_upgrades:
        refused(asking(), 403, method, "/orders/1?x=1", [(HEADER, good), *headers], body)
        return
    refused(asking(), 401, method, "/orders/1?x=1", headers, body)
    seen = passed(asking().ask(method, "/orders/1?x=1", [(HEADER, good), *headers], body), backend)
    assert said(seen) == of(good)
    assert (seen["method"], seen["path"]) == (method, "/orders/1?x=1")
    sent = b"".join(body) if isinstance(body, list) else body or b""
    assert seen["digest"] == hashlib.sha256(sent).hexdigest()


@pytest.mark.parametrize("chunked", [False, True])
def test_large_body(any_proxy, backend, good, chunked):
    body = os.urandom(5_000_000)
    sent = [body[start:start + 70_000] for start in range(0, len(body), 70_000)] if chunked else body
    seen = passed(any_proxy.ask("POST", "/upload", [(HEADER, good)], sent), backend)
    assert seen["length"] == len(body)
    assert seen["digest"] == hashlib.sha256(body).hexdigest()


def test_large_body_without_a_token(any_proxy):
    refused(any_proxy, 401, "POST", "/upload", body=os.urandom(3_000_000))


def test_limited_use(asking, backend, limited):
    token = limited()
    assert said(passed(asking().ask("POST", "/payments/1", [(HEADER, token)], b"1"), backend)) == of(token, True)
    for path in ["/payments/1", "/orders"]:
        refused(asking(), 403, "POST", path, [(HEADER, token)], b"1")


def test_limited_use_at_the_same_time(asking, limited):
    token = limited()
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: asking().ask("POST", "/payments/1", [(HEADER, token)], b"1"), range(40)))
    assert sorted(answer.status for answer in answers) == [200] + [403] * 39


def test_more_headers_than_assay_reads(asking, backend, good):
    before = len(backend.seen)
    fillers = [(f"X-Filler-{number}", "x" * 3000) for number in range(asking().too_many_bytes // 3000)]
    answer = asking().ask(headers=[(HEADER, good), *fillers])
    assert answer.status in [431, 500]
    assert len(backend.seen) == before


@pytest.fixture(scope="module")
def phone(assay, authority):
    device = Device(authority, APPLE_ID)
    token = tokens.attested_by(device, assay, APP)
    # What was made in the first seconds of a state may have been used before it began.
    time.sleep(6.1)
    return device, token


@pytest.mark.parametrize("level", ["enforced", "unenforced"])
def test_a_proof_of_the_device(asking, backend, phone, level):
    """The fifth header says that the device proved the request, and only then, whatever its client claims."""
    device, token = phone
    path = "/proven/1?x=1"
    fields = proofs.proof(device, "POST", HOST, path, b"1", int(time.time()))
    claimed = [(HEADER, token), (NAMES[4], "verified"), (NAMES[4].replace("-", "_"), "verified")]
    seen = passed(asking(level).ask("POST", path, [*claimed, *fields.items()], b"1"), backend)
    assert said(seen) == of(token, proof="verified")
    assert said(passed(asking(level).ask("POST", "/orders", claimed, b"1"), backend)) == of(token)
    if level == "enforced":
        refused(asking(), 403, "POST", path, claimed, b"1")
    else:
        assert said(passed(asking(level).ask("POST", path, claimed, b"1"), backend)) in [{}, of(token)]


# MARK: Headers that a client makes up

SPOOFED = [
    [("X-AppCheck-App-Id", "spoof")],
    [("x-appcheck-app-id", "spoof")],
    [("X-APPCHECK-APP-ID", "spoof")],
    [("X-AppCheck-App-Id", "spoof"), ("X-AppCheck-App-Id", "spoof too")],
    [("X-AppCheck-App-Id", "spoof"), ("x-appcheck-APP-id", "spoof too")],
    [("X_AppCheck_App_Id", "spoof")],
    [("X_APPCHECK_APP_ID", "spoof"), ("x_appcheck_app_id", "spoof too")],
    [("X-AppCheck_App-Id", "spoof"), ("X_AppCheck-App-Id", "spoof")],
    [(name, "spoof") for name in NAMES],
    [(name.replace("-", "_"), "spoof") for name in NAMES],
    [("X-AppCheck-Other", "spoof")],
    [("X-AppCheck-App-Id", "spoof"), ("Connection", "X-AppCheck-App-Id")],
    [("Connection", "close, X-AppCheck-App-Id, X-AppCheck-Jti")],
]


@pytest.mark.parametrize("headers", SPOOFED)
@pytest.mark.parametrize("level", ["enforced", "unenforced", "off"])
@pytest.mark.parametrize("has_token", [True, False])
def test_spoofed_headers(asking, backend, good, level, has_token, headers):
    token = [(HEADER, good)] if has_token else []
    proxy = asking(level)
    if level == "enforced" and not has_token:
        refused(proxy, 401, headers=headers)
        return
    told = said(passed(proxy.ask(headers=[*headers, *token]), backend))
    told.pop("x-appcheck-other", None)
    expected = of(good) if has_token and level != "off" else {}
    if any(name == "Connection" for name, _ in headers):
        # A proxy may take what a client lists there out of the request, and must put nothing in.
        assert told.items() <= expected.items()
    else:
        assert told == expected


@pytest.mark.parametrize("headers", SPOOFED)
def test_spoofed_headers_of_haproxy(haproxy, backend, good, headers):
    refused(haproxy, 401, headers=headers)
    assert said(passed(haproxy.ask(headers=[*headers, (HEADER, good)]), backend)) == {"x-appcheck-app-id": APP_ID}


# MARK: Tokens that are not good


def test_unacceptable_tokens(any_proxy, forger):
    # The name of the key's file as a shared secret: HAProxy would take it for one.
    unacceptable = forger.unacceptable([str(any_proxy.key_file).encode()])
    for what, token in unacceptable.items():
        answer = refused(any_proxy, 401, headers=[(HEADER, token)])
        assert answer.headers["www-authenticate"].startswith("AppCheck"), what


def test_forged_tokens_are_like_good_ones(any_proxy, backend, forger):
    passed(any_proxy.ask(headers=[(HEADER, forger.token())]), backend)


def test_no_token(any_proxy, good):
    answer = refused(any_proxy, 401)
    assert answer.headers["www-authenticate"].startswith("AppCheck")
    for headers in [
        [("Authorization", f"Bearer {good}")], [("X_Firebase_AppCheck", good)], [("Cookie", f"{HEADER}={good}")],
        [(HEADER, good), (HEADER, good)], [(HEADER, good), (HEADER, "")], [("X-Firebase-App-Check", good)],
    ]:
        refused(any_proxy, 401, headers=headers)


def test_tokens_of_others(any_proxy, assay, authority):
    other = tokens.attested(assay, authority, f"projects/other-project/apps/{OTHER_ID}", OTHER_APPLE_ID)
    refused(any_proxy, 401, headers=[(HEADER, other)])
    second = tokens.attested(assay, authority, f"projects/{NUMBER}/apps/{SECOND_ID}", SECOND_APPLE_ID)
    refused(any_proxy, 403, headers=[(HEADER, second)])
    refused(any_proxy, 403, headers=[(HEADER, tokens.debug(assay, APP, DEBUG_TOKEN))])


@pytest.mark.parametrize("name", [HEADER, "x-firebase-appcheck", "appCheckToken", "app_check_token", "%61pp_check"])
def test_token_in_the_query(asking, assay, good, name):
    for headers in [[], [(HEADER, good)]]:
        before = position(assay)
        refused(asking(), 401, "GET", f"/orders?a=b&{name}={good}", headers)
        assert reason(assay, before) == "token_in_url"


# MARK: Routes


def readings(path):
    """The paths that some backend or other could make of a request's target."""
    path = re.sub(r"^https?://[^/]*", "", path).split("?")[0].split("#")[0]
    found, new = set(), {path}
    while new:
        found |= new
        new = {
            after for path in new for after in [
                urllib.parse.unquote(path), path.replace("\\", "/"), re.sub("/+", "/", path),
                re.sub(";[^/]*", "", path), path.split(";")[0], path.split("\0")[0], path.replace("\0", ""),
                urllib.parse.urljoin("http://a/", path).removeprefix("http://a"), "/" + path.lstrip("/"),
            ]
        } - found
    return found


TRICKS = [
    "/payments/1", "/payments/", "/payments/1?x=/../y", "/x/../payments/1", "/payments/../x", "/payments/../payments/1",
    "//payments/1", "/payments//1", "///x//payments/1", "/./payments/1", "/payments/./1", "/%70ayments/1",
    "/p%61yments/1", "/payments%2f1", "/payments%2F1", "/%2fpayments/1", "/%2e/payments/1", "/x/%2e%2e/payments/1",
    "/x/.%2E/payments/1", "/x/..%2fpayments/1", "/x%2f..%2fpayments/1", "/payments;v=1/1", "/payments/;v=1",
    "/x;/../payments/1", "/x\\..\\payments/1", "/\\payments/1", "/payments%5c1", "/x%5c..%5cpayments/1",
    "/payments%3b/1", "/payments%00/1", "/x%252f..%252fpayments/1", "/%2570ayments/1", "/payments/%2e%2e/payments/1",
    "/x/..;/payments/1", "/payments/1#/../../x", "/x#/../payments/1", "/x?/../payments/1", "/%", "/payments/%zz",
    "http://PROXY/payments/1", "http://PROXY//payments/1", "http://PROXY/x/../payments/1", "/x/...%2f/payments/1",
]


@pytest.mark.parametrize("path", TRICKS)
def test_no_path_leads_a_session_token_to_a_route(asking, backend, good, path):
    before = len(backend.seen)
    path = path.replace("PROXY", asking().address)
    answer = asking().ask("POST", path, [(HEADER, good)], b"1")
    reached = backend.seen[before:]
    assert answer.status == 200 if reached else answer.status in [400, 403], answer
    for seen in reached:
        assert not any(reading.startswith("/payments/") for reading in readings(seen["path"])), seen


def folded(path):
    """A path as a backend may map it that folds Unicode and names files as Windows does."""
    path = unicodedata.normalize("NFKD", urllib.parse.unquote(path).casefold()).casefold()
    path = "".join(c for c in path if unicodedata.category(c) not in ["Mn", "Cf", "Cc"])
    return "/".join(re.sub(":[:$].*", "", segment).rstrip(". ") for segment in path.split("/")).rstrip("/")


SPELLINGS = [
    "/bank", "/bank/", "/BANK", "/Bank/", "/%62ank", "/b%41nk", "/bank?x=1", "/bank.", "/bank./", "/bank..", "/bank%2e",
    "/bank.%20", "/bank%20", "/bank%20/", "/%20bank", "/bank%09", "/bank+", "/bank::$DATA", "/bank::$INDEX_ALLOCATION",
    "/bank:$I30:$INDEX_ALLOCATION", "/bank%3a%3a$DATA", "/bank%3A%24data", "/ban%E2%84%AA", "/%EF%BD%82ank",
    "/%EF%BC%8Fbank", "/b%C3%A4nk", "/ba%CC%88nk", "/bank%E3%80%82", "/bank%EF%BC%8E", "/bank%C2%AD", "/ba%E2%80%8Bnk",
    "/%E2%80%AEknab", "/bank%C2%A0", "/ban%c1%ab", "/b%c1%a1nk", "/%c1%a2ank", "/bank%c0%ae", "/bank%c0%af", "/%c0%afbank",
    "/%c0%ae/bank", "/x/%c0%ae%c0%ae/bank", "/x/%e0%80%ae%e0%80%ae/bank", "/%f0%80%81%a2ank", "/bank%ff", "/bank%fe",
    "/bank%ed%a0%80", "/bank%c3", "/bank%00", "/bank%00.json", "/bank%0a", "/bank%0d%0a", "/bank%7f", "/bank;", "/bank;v=1",
    "/bank;/../x", "/bank%3b", "/bank%3bv=1", "/bank%5c", "/bank\\", "/x\\..\\bank", "//bank", "///bank", "/x//../bank",
    "/./bank", "/bank/.", "/bank/./", "/x/../bank", "/x/%2e%2e/bank", "/x/.%2e/bank", "/x/..;/bank", "/%2fbank", "/bank%2f",
    "/bank%2f.", "/%2562ank", "/bank%252e", "/bank%2500", "/bank%252f", "/bank%u002e", "/%u0062ank", "/bank%", "/bank%2",
    "/bank%zz", "/bank#", "/bank#/x", "/bank%23", "/bank%3f", "/bank%3fx=1", "/BANK~1", "/ban%3c%3c", "/bank%22",
    "http://PROXY/bank", "http://PROXY/bank.", "HTTP://PROXY/ban%E2%84%AA", "/vault", "/vault/", "/vault/1", "/VAULT",
    "/vault.json", "/vault.JSON", "/vault.", "/vault:open", "/vault(1)", "/vault,1", "/vault;x", "/vault%2ejson",
    "/vaul%EF%BD%94.json", "/v%61ult.json/1",
]


@pytest.mark.parametrize("path", SPELLINGS)
def test_no_spelling_of_a_path_leads_a_session_token_to_its_route(asking, backend, good, path):
    before = len(backend.seen)
    answer = asking().ask("POST", path.replace("PROXY", asking().address), [(HEADER, good)], b"1")
    reached = backend.seen[before:]
    assert answer.status == 200 if reached else answer.status in [400, 403], answer
    for seen in reached:
        path = re.sub(r"(?i)^https?://[^/]*", "", seen["path"]).split("?")[0]
        assert urllib.parse.unquote_to_bytes(path).decode(), seen
        for reading in readings(path):
            assert folded(reading) != "/bank" and not re.match("/vault(?![a-z0-9_-])", folded(reading)), (seen, reading)


@pytest.mark.parametrize("path", ["/bank.json", "/bank/1", "/banking", "/vaults", "/vault-2", "/vault_2/1", "/x/vault/1"])
def test_other_paths_are_not_those_of_routes(asking, backend, good, path):
    passed(asking().ask("POST", path, [(HEADER, good)], b"1"), backend)


@pytest.mark.parametrize("path", ["/caf%C3%A9", "/x.", "/ban%E2%84%AA", "/a::b"])
def test_spellings_matter_only_where_a_route_of_the_method_demands_more(asking, backend, good, path):
    passed(asking().ask("GET", path, [(HEADER, good)]), backend)


@pytest.mark.parametrize("path", ["/payments/1", "/payments/", "/payments/1?x=1", "/p%61yments/1"])
def test_a_route_is_there_for_those_who_meet_its_demand(asking, backend, good, limited, path):
    token = limited()
    seen = passed(asking().ask("POST", path, [(HEADER, token)], b"1"), backend)
    assert said(seen) == of(token, True)
    passed(asking().ask("GET", path, [(HEADER, good)]), backend)


@pytest.mark.parametrize("headers", [
    [("X-Original-URI", "/x"), ("X-Forwarded-Uri", "/x")],
    [("X-Original-Method", "GET"), ("X-Forwarded-Method", "GET")],
    [("x-original-uri", "/x"), ("X-ORIGINAL-URI", "/y"), ("x-forwarded-uri", "/x"), ("X-FORWARDED-URI", "/y")],
    [("X_Original_URI", "/x"), ("X_Forwarded_Uri", "/x"), ("X_Original_Method", "GET"), ("X_Forwarded_Method", "GET")],
    [("X-Original-URL", "/x"), ("X-Rewrite-URL", "/x"), ("Forwarded", "for=127.0.0.1")],
    [("Connection", "X-Forwarded-Uri, X-Forwarded-Method, X-Original-URI, X-Original-Method")],
    [("X-HTTP-Method-Override", "GET")],
    [("X-Envoy-Original-Path", "/x"), ("X-Envoy-Original-Method", "GET"), ("X-Envoy-Auth-Partial-Body", "false")],
    [("X-Replaced-Path", "/x"), ("X-Forwarded-Prefix", "/x"), ("X-Forwarded-Host", "x"), ("X-Forwarded-Server", "x")],
])
def test_no_header_leads_a_session_token_to_a_route(asking, good, headers):
    refused(asking(), 403, "POST", "/payments/1", [(HEADER, good), *headers], b"1")


def test_unclear_paths_are_refused_at_every_level(asking, good, assay):
    for level in ["enforced", "unenforced", "off"]:
        before = position(assay)
        refused(asking(level), 403, "GET", "/x;y", [(HEADER, good)])
        assert reason(assay, before) == "backend_target_ambiguous"


# MARK: Browsers

ASKING_FIRST = [("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "POST")]


def test_preflights(asking, backend):
    """The policy says which may pass, and Assay answers none of them itself."""
    refused(asking(), 401, "OPTIONS", "/orders", ASKING_FIRST)
    seen = passed(asking().ask("OPTIONS", "/open/x", [*ASKING_FIRST, (NAMES[0], "spoof")]), backend)
    assert said(seen) == {}
    refused(asking(), 401, "GET", "/open/x", ASKING_FIRST)


# MARK: Bodies and connections of nginx


@pytest.mark.parametrize("length", ['proxy_set_header Content-Length "";', ""])
def test_bodies_that_nginx_keeps_to_itself(nginx, backend, good, length):
    proxy = nginx({'proxy_set_header Content-Length "";': length})
    connection = http.client.HTTPConnection(proxy.address, timeout=60)
    for number in range(10):
        body = b"a body" * number
        answer = proxy.ask("POST", "/orders", [(HEADER, good)], body, connection)
        assert passed(answer, backend)["digest"] == hashlib.sha256(body).hexdigest()
        assert proxy.ask("POST", "/orders", [], body, connection).status == 401


def connections(assay):
    page = urllib.request.urlopen(f"{assay.address}/metrics", timeout=30).read().decode()
    return int(re.search(r"^assay_http_connections_accepted_total (\d+)", page, re.M).group(1))


def test_nginx_keeps_connections_to_assay(nginx, assay, good):
    proxy = nginx({})
    before = connections(assay)
    connection = http.client.HTTPConnection(proxy.address, timeout=60)
    for number in range(150):
        headers = [(HEADER, good)] if number % 3 else []
        assert proxy.ask("POST", "/orders", headers, b"body", connection).status == (200 if headers else 401)
    # One of them is that of the metrics.
    assert connections(assay) - before <= 3


# MARK: When Assay is not there


@pytest.mark.parametrize("program", ASKING, ids=name)
@pytest.mark.parametrize("level", ["enforced", "off"])
def test_nothing_passes_without_assay(program, level, backend, good):
    skip_without(program)
    proxy = program(f"127.0.0.1:{free_port()}", backend, question(program, f"{SOURCES[program]}-{level}"))
    try:
        before = len(backend.seen)
        assert proxy.ask(headers=[(HEADER, good)]).status in [500, 502, 503]
        assert len(backend.seen) == before
    finally:
        proxy.stop()


def test_envoy_takes_no_other_status_than_200(assay, backend, good):
    """Without `success_status: 200` a yes is the reply to the client; it fails closed."""
    skip_without(Envoy)
    proxy = Envoy(address(assay), backend, question(Envoy, "x-original-enforced"))
    try:
        refused(proxy, 204, headers=[(HEADER, good)])
    finally:
        proxy.stop()


def leave(address, clients, requests):
    """Clients of HTTP/2 that reset their requests as soon as they have sent them."""
    host, port = address.rsplit(":", 1)
    for _ in range(clients):
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
            client.initiate_connection()
            for _ in range(requests):
                stream = client.get_next_available_stream_id()
                client.send_headers(
                    stream, [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a")], end_stream=True)
                # Envoy has begun to ask when it reads the reset, and asks no more.
                connection.sendall(client.data_to_send())
                client.reset_stream(stream, 8)
                connection.sendall(client.data_to_send())


def test_clients_that_leave_envoy_do_not_harm_others(proxies, good):
    skip_without(EnvoyOverGRPC)
    proxy = proxies(EnvoyOverGRPC)
    for _ in range(10):
        leave(proxy.address, clients=10, requests=50)
        for _ in range(10):
            assert proxy.ask(headers=[(HEADER, good)]).status == 200


@pytest.mark.parametrize("program", [Envoy, EnvoyOverGRPC], ids=name)
def test_nothing_passes_while_assay_is_silent(program, backend, good):
    """Of the others, it is the operator who says how long they wait."""
    skip_without(program)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = program(f"127.0.0.1:{silent.getsockname()[1]}", backend, question(program, f"{SOURCES[program]}-off"))
        try:
            refused(proxy, 503, headers=[(HEADER, good)])
        finally:
            proxy.stop()


@pytest.mark.parametrize("program", ASKING, ids=name)
def test_a_backend_that_the_policy_does_not_know(program, backend, assay, good):
    skip_without(program)
    proxy = program(address(assay, program), backend, question(program, "nobody"))
    try:
        refused(proxy, 403, headers=[(HEADER, good)])
    finally:
        proxy.stop()


# MARK: The question itself, as proxies ask it that are not here


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_any_method_asks(assay, good, method):
    told = [("X-Original-URI", "/orders"), ("X-Original-Method", method)]
    path = "/verify/x-original-enforced"
    answer = ask(address(assay), method, path, [(HEADER, good), *told])
    assert (answer.status, answer.body) == (204, b"")
    assert {name: answer.headers.get_all(name) for name in NAMES} == {name: [of(good).get(name, "")] for name in NAMES}
    assert answer.headers["cache-control"] == "no-store"
    for headers in [told, [*told, *ASKING_FIRST]]:
        answer = ask(address(assay), method, path, headers)
        assert (answer.status, answer.body) == (401, b"")


def test_every_header_is_there_without_a_token(assay):
    for level in ["unenforced", "off"]:
        answer = ask(address(assay), "GET", f"/verify/x-forwarded-{level}", [
            ("X-Forwarded-Uri", "/orders"), ("X-Forwarded-Method", "GET")])
        assert answer.status == 204
        about = [(name.lower(), value) for name, value in answer.headers.items() if name.lower().startswith("x-appcheck")]
        assert sorted(about) == sorted((name, "") for name in NAMES)


def test_routes_need_to_be_told(assay, good):
    for headers, expected in [
        ([], "backend_target_missing"),
        ([("X-Forwarded-Uri", "/x"), ("X-Forwarded-Method", "GET")], "backend_target_missing"),
        ([("X-Original-URI", "/x")], "backend_target_missing"),
        ([("X-Original-URI", "/x"), ("X-Original-URI", "/x"), ("X-Original-Method", "GET")],
         "backend_target_ambiguous"),
    ]:
        before = position(assay)
        answer = ask(address(assay), "GET", "/verify/x-original-enforced", [(HEADER, good), *headers])
        assert answer.status == 403
        assert reason(assay, before) == expected
