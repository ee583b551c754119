"""The client of the article *Write a client* against a real server, and against one that means no good."""

import base64
import contextlib
import http.server
import json
import socket
import threading
import time

import pytest
import requests

import client
from client import AppCheck, AppCheckError, ProtectedSession, debug_token
from server import APP, APP_ID, DEBUG_TOKEN, NUMBER, POLICY, PROJECT, Server

BACKENDS = """\
    consumers:
      custom_backend:
        tokens: {accept_development: true}
        backends:
          orders: {}
          payments: {tokens: {limited_use: true}}
"""


class Clock:
    """A monotonic clock that stands still until a test moves it."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


class Counting:
    """Sends requests, and remembers how many; a test may let time pass while one is under way."""

    def __init__(self, clock=None, takes=0.0):
        self.calls, self.clock, self.takes, self.lock = 0, clock, takes, threading.Lock()

    def __call__(self, url, body, limit=5):
        with self.lock:
            self.calls += 1
        if self.clock:
            self.clock.time += self.takes
        return client.post(url, body, limit)


class Scene:
    def __init__(self, address, provider=None, app=APP, takes=0.0, jitter=0.0):
        self.clock = Clock()
        self.send = Counting(self.clock, takes)
        self.check = AppCheck(
            app, address, provider or debug_token(DEBUG_TOKEN), send=self.send, now=self.clock, jitter=lambda: jitter)


@pytest.fixture(scope="module")
def protected(authority, apple, tmp_path_factory):
    """A server that also answers for backends."""
    server = Server(
        tmp_path_factory.mktemp("protected"), authority, apple, POLICY.replace("    oauth_clients:", BACKENDS + "    oauth_clients:"))
    server.start()
    yield server
    assert server.stop() == 0


@contextlib.contextmanager
def answering(answer):
    """A server that answers as a test says: `answer(handler)`."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.close_connection = True
            with contextlib.suppress(OSError):
                answer(self)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def reply(handler, status, body=b"", **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(body)


def jwt(life=3600, number=1, **claims):
    claims = {"sub": APP_ID, "aud": [f"projects/{NUMBER}", f"projects/{PROJECT}"], "iat": 1000, "exp": 1000 + life, "jti": number, **claims}
    encode = lambda part: base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    return f"{encode({'alg': 'RS256'})}.{encode(claims)}.c2lnbmF0dXJl"


def failure(body):
    with pytest.raises(AppCheckError) as error:
        body()
    return error.value


# Against the real server


def test_a_token_is_kept_until_five_minutes_before_its_end(server):
    scene = Scene(server.address)
    first = scene.check.token()
    assert first.expires - first.requested == 3600
    scene.clock.time += 3299
    assert scene.check.token() is first and scene.send.calls == 1
    scene.clock.time += 1
    assert scene.check.token().text != first.text and scene.send.calls == 2


def test_a_lifetime_counts_from_before_the_request(server):
    scene = Scene(server.address, takes=100)
    assert scene.check.token().requested == 1000 and scene.check.token().expires == 4600


def test_the_time_of_day_has_no_part_in_it(server, monkeypatch):
    scene = Scene(server.address)
    first = scene.check.token()
    for wrong in (0.0, 4e9):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: wrong)
            assert scene.check.token() is first
    assert client.uptime() == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME), abs=1)


def test_five_hundred_callers_share_one_exchange(server):
    scene, tokens = Scene(server.address), []
    start = threading.Barrier(500)

    def caller():
        start.wait()
        tokens.append(scene.check.token().text)

    threads = [threading.Thread(target=caller) for _ in range(500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens) == 500 and len(set(tokens)) == 1 and scene.send.calls == 1


def test_a_token_for_one_use_is_new_each_time_and_never_kept(server):
    scene = Scene(server.address)
    texts = {scene.check.limited_use_token().text for _ in range(3)}
    assert len(texts) == 3 and scene.check.kept is None
    session = scene.check.token()
    assert session.text not in texts and scene.check.token() is session
    limited = scene.check.limited_use_token()
    assert limited.expires - limited.requested == 300


def test_a_refusal_has_a_decision_that_the_server_has_recorded(server):
    scene = Scene(server.address, debug_token("00000000-0000-4000-8000-000000000000"))
    error = failure(scene.check.token)
    assert (error.code, error.status) == ("refused", 403)
    end = time.monotonic() + 30
    while error.decision not in (server.folder / "log").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("app", ["projects/none/apps/1:2:ios:ab", f"projects/{PROJECT}/apps/1:2:ios:ab"])
def test_an_unknown_app_is_not_configured(server, app):
    assert failure(Scene(server.address, app=app).check.token).code == "not_configured"


def test_a_provider_of_your_own_calls_what_it_needs(server):
    calls = []

    def provider(check, limited_use):
        calls.append(limited_use)
        return check.call("exchangeDebugToken", {"debugToken": DEBUG_TOKEN, "limitedUse": limited_use})

    scene = Scene(server.address, provider)
    scene.check.token()
    scene.check.limited_use_token()
    assert calls == [False, True]


@pytest.mark.parametrize("broken", [lambda check, limited_use: 1 / 0, lambda check, limited_use: None])
def test_a_provider_that_fails_ends_no_thread_and_makes_no_pause(server, broken):
    scene = Scene(server.address, broken)
    error = failure(scene.check.token)
    assert (error.code, error.retry_after) == ("provider_failed", None) and error.__cause__ is not None
    scene.clock.time += 60
    assert scene.check.refresh_if_due() == 120
    scene.check.provider = debug_token(DEBUG_TOKEN)
    assert scene.check.token().text


def test_a_backend_gets_the_token_in_the_header(protected):
    scene = Scene(protected.address)
    url = f"{protected.address}/verify/orders"
    assert requests.get(url, timeout=30).status_code == 401
    assert ProtectedSession(scene.check).request("GET", url, headers={"x-firebase-appcheck": "old"}).status_code == 204
    payments = ProtectedSession(scene.check, limited_use=True)
    for _ in range(2):
        assert payments.request("GET", f"{protected.address}/verify/payments").status_code == 204


def test_a_server_that_was_down_is_used_again_when_it_is_up(authority, apple, tmp_path):
    server = Server(tmp_path, authority, apple)
    server.start()
    port = int(server.address.rsplit(":", 1)[1])
    scene = Scene(server.address)
    kept = scene.check.token()
    server.process.kill()
    server.process.wait(timeout=30)
    # What is kept continues.
    assert scene.check.token() is kept
    scene.clock.time += 3400
    error = failure(scene.check.token)
    assert error.code == "unreachable" and error.retry_after is None
    server.arguments = ("--listen", f"127.0.0.1:{port}")
    server.start()
    try:
        assert scene.check.token().text != kept.text
    finally:
        assert server.stop() == 0


# Against a server that a test scripts


def test_a_token_is_renewed_at_half_of_its_life_and_five_minutes(server):
    scene = Scene(server.address)
    scene.check.refresh_if_due()
    assert scene.send.calls == 1 and scene.check.refresh_if_due() == 2100
    scene.clock.time += 2099
    assert scene.check.refresh_if_due() == 1 and scene.send.calls == 1
    scene.clock.time += 1
    assert scene.check.refresh_if_due() == 2100 and scene.send.calls == 2


def test_short_tokens_are_renewed_once_a_minute_and_failures_wait_longer():
    good = True
    with answering(lambda h: reply(h, 200, {"token": jwt(60), "ttl": "60s"}) if good else reply(h, 500)) as address:
        scene = Scene(address)
        assert scene.check.refresh_if_due() == 60
        good, waits = False, []
        for _ in range(7):
            scene.clock.time += scene.check.due() - scene.clock.time
            waits.append(scene.check.refresh_if_due())
        assert waits == [60, 120, 240, 480, 960, 960, 960]


def test_a_thread_keeps_the_token_fresh_until_it_is_told_to_stop(server):
    scene, stop = Scene(server.address), threading.Event()
    thread = threading.Thread(target=scene.check.keep_fresh, args=(stop,))
    thread.start()
    end = time.monotonic() + 30
    while scene.check.kept is None and time.monotonic() < end:
        time.sleep(0.01)
    stop.set()
    thread.join(timeout=30)
    assert not thread.is_alive() and scene.send.calls == 1


@pytest.mark.parametrize("status, headers, code, waits", [
    (429, {"Retry_After": "7"}, "throttled", (7, 10.5)),
    (503, {"Retry_After": "86400"}, "unavailable", (3600, 3630)),
    (503, {"Retry_After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, "unavailable", (30, 45)),
    (429, {"Retry_After": "soon"}, "throttled", (2, 3)), (403, {"Retry_After": "7"}, "refused", (2, 3)),
    (404, {}, "not_configured", (2, 3)), (401, {}, "rejected", (2, 3)), (400, {}, "rejected", (2, 3)),
    (500, {}, "unavailable", (2, 3)), (302, {"Location": "/v1/elsewhere"}, "redirected", (2, 3)), (204, {}, "malformed_reply", (2, 3)),
])
@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_nothing_is_sent_for_as_long_as_the_server_asks_or_the_backoff_has_it(status, headers, code, waits, jitter):
    def answer(handler):
        handler.send_response_only(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with answering(answer) as address:
        scene = Scene(address, jitter=jitter)
        error = failure(scene.check.token)
        assert (error.code, error.status) == (code, status)
        assert error.retry_after == waits[int(jitter)]
        scene.clock.time += error.retry_after - 0.5
        again = failure(scene.check.limited_use_token)
        assert (again.code, again.retry_after) == (code, 0.5) and scene.send.calls == 1
        scene.clock.time += 0.5
        failure(scene.check.token)
        assert scene.send.calls == 2


def test_pauses_double_up_to_an_hour_and_a_success_ends_them():
    good = False
    with answering(lambda h: reply(h, 200, {"token": jwt(), "ttl": "3600s"}) if good else reply(h, 403)) as address:
        scene, waits = Scene(address), []
        for _ in range(14):
            waits.append(failure(scene.check.token).retry_after)
            scene.clock.time += waits[-1]
        assert waits == [min(2 ** n, 3600) for n in range(1, 15)]
        good = True
        scene.check.token()
        good = False
        assert failure(lambda: scene.check.token(force=True)).retry_after == 2
        # What is kept is given out in a pause.
        assert scene.check.token()


@pytest.mark.parametrize("body, code", [
    (b"", "malformed_reply"), (b"[]", "malformed_reply"), (b"[" * 60000, "malformed_reply"), (b"x" * 70000, "malformed_reply"),
    ({"token": jwt()}, "malformed_reply"), ({"token": 7, "ttl": "3600s"}, "malformed_reply"),
    ({"token": jwt(), "ttl": 3600}, "malformed_reply"), ({"token": jwt(), "ttl": "1e9s"}, "malformed_reply"),
    ({"token": jwt(), "ttl": "0s"}, "malformed_reply"), ({"token": jwt(10 ** 7), "ttl": "999999999s"}, "malformed_reply"),
    ({"token": "a.b.c", "ttl": "3600s"}, "malformed_reply"), ({"token": "no jwt", "ttl": "3600s"}, "malformed_reply"),
    ({"token": jwt(x="y" * 20000), "ttl": "3600s"}, "malformed_reply"),
    ({"token": jwt(sub="1:1234567890:ios:other"), "ttl": "3600s"}, "foreign_token"),
    ({"token": jwt(aud=["projects/987"]), "ttl": "3600s"}, "foreign_token"),
    ({"token": jwt(aud={"projects/1234567890": 1}), "ttl": "3600s"}, "foreign_token"),
])
def test_a_reply_of_another_form_is_no_token(body, code):
    with answering(lambda h: reply(h, 200, body)) as address:
        scene = Scene(address)
        assert failure(scene.check.token).code == code
        assert scene.check.kept is None


def test_the_shorter_of_both_lifetimes_counts():
    with answering(lambda h: reply(h, 200, {"token": jwt(600), "ttl": "3600s"})) as address:
        token = Scene(address).check.token()
        assert token.expires - token.requested == 600


def test_a_slow_or_endless_server_ends_within_the_limit():
    def drip(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(200):
            handler.wfile.write(b"a")
            time.sleep(0.05)

    def flood(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            handler.wfile.write(b"x" * 65536)

    for answer, code in ((drip, "unreachable"), (flood, "malformed_reply"), (lambda _: time.sleep(5), "unreachable")):
        with answering(answer) as address:
            check = AppCheck(APP, address, debug_token("a"), send=lambda url, body: client.post(url, body, limit=1))
            start = time.monotonic()
            assert failure(check.token).code == code
            assert time.monotonic() - start < 4


def test_what_a_server_says_is_shortened_and_moves_no_cursor():
    body = {"error": {"message": "\x1b[2J\u202e" + "x" * 5000}}
    with answering(lambda h: reply(h, 500, body, X_Assay_Decision="two words")) as address:
        error = failure(Scene(address).check.token)
        assert len(error.message) < 400 and error.message.isprintable() and error.decision is None


def test_a_refused_token_is_replaced_once():
    tokens, seen = iter(range(1, 10)), []
    with answering(lambda h: reply(h, 200, {"token": jwt(number=next(tokens)), "ttl": "3600s"})) as address:
        scene = Scene(address)
        scene.check.token()

        def backend(handler):
            seen.append(handler.headers["X-Firebase-AppCheck"])
            reply(handler, 401, WWW_Authenticate='AppCheck realm="a", error="invalid_token"')

        with answering(backend) as url:
            session = ProtectedSession(scene.check)
            # A token younger than a minute is not replaced: a backend that refuses all must not make each call an exchange.
            assert session.request("GET", url).status_code == 401 and len(seen) == 1
            scene.clock.time += 60
            assert session.request("GET", url).status_code == 401 and len(seen) == 3
            assert session.request("POST", url, data=iter([b"a"])).status_code == 401 and len(seen) == 4
            assert scene.send.calls == 2 and len(set(seen)) == 2
            # Each try has a token of its own.
            ProtectedSession(scene.check, limited_use=True).request("GET", url)
            assert len(seen) == 6 and len(set(seen)) == 4


@pytest.mark.parametrize("challenge", [None, "AppCheck", "Bearer error=\"invalid_token\"", "AppChecks error=\"invalid_token\""])
def test_another_401_is_the_programs_to_handle(server, challenge):
    seen = []

    def backend(handler):
        seen.append(1)
        reply(handler, 401, **({"WWW_Authenticate": challenge} if challenge else {}))

    with answering(backend) as url:
        scene = Scene(server.address)
        scene.check.token()
        scene.clock.time += 60
        ProtectedSession(scene.check).request("GET", url)
        assert len(seen) == 1 and scene.send.calls == 1


def test_a_token_goes_to_no_other_origin_no_url_and_not_in_the_clear(server):
    check = Scene(server.address).check
    session = ProtectedSession(check)
    for url in ["http://api.example.com/", "http://localhost.example.com/", "https://a:b@example.com/", "ftp://localhost/", ""]:
        assert failure(lambda: session.request("GET", url)).code == "insecure"
    text = check.token().text
    assert failure(lambda: session.request("GET", f"http://127.0.0.1:1/?a={text}")).code == "insecure"
    assert failure(lambda: session.request("GET", "http://127.0.0.1:1/", params={"a": text})).code == "insecure"
    with answering(lambda h: reply(h, 302, Location="http://127.0.0.1:1/")) as url:
        assert session.request("GET", url).status_code == 302
    assert failure(lambda: AppCheck(APP, "http://assay.example.com", None)).code == "insecure"
    assert failure(lambda: AppCheck("projects/p/apps/", "https://assay.example.com", None)).code == "invalid_configuration"
    assert text not in repr(check.token())


def test_a_proxy_of_the_environment_does_not_get_the_token(server, monkeypatch):
    seen = []
    with answering(lambda h: (seen.append(h.path), reply(h, 200))) as proxy, answering(lambda h: reply(h, 200)) as url:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("http_proxy", proxy)
        assert requests.get(f"{url}/plain", timeout=30).status_code == 200 and len(seen) == 1
        assert ProtectedSession(Scene(server.address).check).request("GET", f"{url}/protected").status_code == 200
        assert len(seen) == 1
