"""No request costs much more CPU time than a plain one of its size, whatever is put into it.

For every method that `assay methods` lists, every path variable, parameter, header, member and form field is given hostile
texts and structures, at the largest size that is let through and at a fraction of it. What a text costs is held against
ASCII letters in the same place, what a structure costs against an ordinary structure of as many bytes in the same place:
three times as much at most, or under 5 ms. Times are CPU times of the server, not of the wall clock; only what is over the
bound is measured again, three times, and the least counts.

The bounds are ratios, and hold for any build. 5 ms are for a release build; a debug build, which is slower by more than ten
times, has 40 ms, so that the test is stricter there. What is the same for every request of a
size, however plain, is bounded by the last rule: ordinary structures cost no more than their size.
"""

import base64
import collections
import functools
import json
import os
import subprocess

import pytest

import hostile
from amplification import ENOUGH, FACTOR, TRIES, Checks, Clock, Connection, Judge, Meter
from amplified import AmplifiedServer
from envoy import CheckRequest
from flood import Caller
from server import APP, NUMBER
from variants import COMMON, ESCAPES, EXHAUSTIVE, ORDINARY, TOKENS, variants


@functools.cache
def listed():
    """The methods of the program, by name."""
    text = subprocess.run([os.environ["ASSAY"], "methods"], check=True, capture_output=True, text=True).stdout
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


@pytest.fixture(scope="module")
def amplified(authority, apple, tmp_path_factory):
    server = AmplifiedServer(tmp_path_factory.mktemp("amplified"), authority, apple)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def meter(amplified):
    meter = Meter(amplified, lambda server: Connection(server.address))
    yield meter
    meter.sender.close()


@pytest.fixture(scope="module")
def known(amplified):
    found = collections.defaultdict(list)
    for operation in amplified.operations():
        found[operation.method].append(operation)
    return found


@pytest.mark.parametrize("method", listed())
def test_no_text_costs_more_than_plain_text(meter, known, method):
    assert known[method], f"the policy of this test serves no {method}: add what it needs"
    judge = Judge(meter)
    rank = listed().index(method)
    for operation in known[method]:
        for place in operation.places():
            if not EXHAUSTIVE and place.name in COMMON and (COMMON.index(place.name) + rank) % 8:
                continue
            name = f"{operation.verb} {operation.path} {place.name}"
            for text, bad, plain in variants(place, rank):
                judge.judge(name, text, place.request(bad), place.request(plain))
            if place.kind not in ESCAPES and "." not in place.name:
                judge.grows(name, place, ORDINARY[place.kind])
            if len(judge.failures) >= ENOUGH:
                judge.report()
    judge.report()


# Envoy's listener: the fields of a check, each made by a function of the text and put into a message.

FIELDS = {
    "method": lambda http, text: setattr(http, "method", text), "path": lambda http, text: setattr(http, "path", "/" + text),
    "query": lambda http, text: setattr(http, "path", "/?" + text),
    "host": lambda http, text: setattr(http, "host", text), "scheme": lambda http, text: setattr(http, "scheme", text),
    "protocol": lambda http, text: setattr(http, "protocol", text), "id": lambda http, text: setattr(http, "id", text),
    "token": lambda http, text: http.headers.update({"x-firebase-appcheck": text}),
    "header": lambda http, text: http.headers.update({"cookie": text}),
    "header name": lambda http, text: http.headers.update({text: "1"}),
    "finding": lambda http, text: http.headers.update({"x-appcheck-" + text: "1"}),
    "raw token": lambda http, text: http.header_map.headers.add(key="x-firebase-appcheck", raw_value=text.encode()),
    "raw header name": lambda http, text: http.header_map.headers.add(key=text, raw_value=b"1"),
}
ATTRIBUTES = {
    "backend": lambda attributes, text: attributes.context_extensions.update({"backend": text}),
    "extension name": lambda attributes, text: attributes.context_extensions.update({text: "1"}),
    "source": lambda attributes, text: setattr(attributes.source.address.socket_address, "address", text),
    "principal": lambda attributes, text: setattr(attributes.source, "principal", text),
}
# The most that is let through is 262,144 bytes.
MESSAGE = 250_000


def check(set_field, set_attribute):
    request = CheckRequest()
    http = request.attributes.request.http
    http.method, http.path, http.host = "GET", "/", "orders.example.com"
    request.attributes.context_extensions["backend"] = "envoy"
    set_field(http)
    set_attribute(request.attributes)
    return request.SerializeToString()


def with_text(name, text):
    """A check with a text in a field, which need not be the Unicode that Envoy's own definition asks for."""
    stand_in = "Z" * len(text)
    message = check(
        lambda http: FIELDS[name](http, stand_in) if name in FIELDS else None,
        lambda attributes: ATTRIBUTES[name](attributes, stand_in) if name in ATTRIBUTES else None)
    return message.replace(stand_in.encode(), text)


def with_headers(make, raw):
    """A check with as many header fields as are let through."""
    def fill(http):
        for index in range(250):
            name, value = make(index)
            if raw:
                http.header_map.headers.add(key=name, raw_value=value.encode())
            else:
                http.headers[name] = value
    return check(fill, lambda attributes: None)


@pytest.fixture(scope="module")
def checks(amplified):
    meter = Meter(amplified, lambda server: Checks(server.target()))
    yield meter
    meter.sender.close()


@pytest.mark.parametrize("name", [*FIELDS, *ATTRIBUTES])
def test_no_field_of_a_check_costs_more_than_plain_text(checks, name):
    judge = Judge(checks)
    for size in (MESSAGE, MESSAGE // 16):
        texts = [(text, make, hostile.plain) for text, make in hostile.TEXTS.items()]
        if "token" in name:
            texts += TOKENS
        for text, make, plain in texts:
            bad = make(size)
            judge.judge(f"Check {name}", f"{text}, {len(bad)} bytes", with_text(name, bad), with_text(name, plain(len(bad))))
    judge.report()


def test_no_reset_check_costs_more_than_an_answered_one(amplified):
    clock, message = Clock(amplified.process.pid), check(lambda http: None, lambda attributes: None)

    def cost(resets):
        caller = Caller(amplified.target())
        try:
            begin = clock.settled()
            for _ in range(20):
                streams = [caller.begin(message, resets) for _ in range(20)]
                # Answers come in any order; the last call is never reset.
                for stream in [*([] if resets else streams), caller.begin(message)]:
                    assert caller.answer(stream) is not None
            return clock.settled() - begin
        finally:
            caller.close()

    cost(False)
    assert min(cost(True) for _ in range(TRIES)) < FACTOR * max(cost(False) for _ in range(TRIES))


@pytest.mark.parametrize("raw", [False, True])
def test_no_headers_of_a_check_cost_more_than_ordinary_ones(checks, raw):
    judge = Judge(checks)
    marks = hostile.marks(450).decode(errors="ignore")
    values = with_headers(lambda index: (f"header-{index:03}", "a" * 940), raw)
    names = with_headers(lambda index: (f"{index:03}" + "a" * 930, "1"), raw)
    token = "x-firebase-appcheck"
    for text, make, ordinary in [
        ("names with long equal prefixes", lambda index: ("a" * 930 + f"{index:03}", "1"), names),
        ("findings", lambda index: ("x_appcheck-" + "a" * 900 + f"{index:03}", "1"), names),
        ("names of marks", lambda index: (marks + f"{index:03}", marks), names),
        ("tokens", lambda index: (token if raw else f"{token}{index:03}", "a" * 900), values),
        ("tokens of commas", lambda index: (token if raw else f"{token}{index:03}", "," * 900), values),
        ("values of marks", lambda index: (f"header-{index:03}", marks * 2), values),
    ]:
        judge.judge("Check headers", text, with_headers(make, raw), ordinary)
    judge.report()


# Tokens of an issuer that has as many keys and callers as may be: whoever sends one need not know a key.

HEADERS = {"no key": {}, "an unknown key": {"kid": "unknown"}, "a key": {"kid": "other-7"}}


def forged(algorithm, size, header, issuer=hostile.ISSUER):
    """A token of an issuer with all that its callers must have, except a signature."""
    claims = {"iss": issuer, "sub": "s", "aud": "https://assay.example.com", "exp": 4102444800}
    parts = [json.dumps({"alg": algorithm, **header}).encode(), json.dumps(claims).encode(), os.urandom(size)]
    return b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)


def bearer(token):
    return b"GET /v1/projects/%s/services HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n" % (NUMBER.encode(), token)


def custom(token):
    body = b'{"customToken":"%s"}' % token
    return b"POST /v1/%s:exchangeCustomToken HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (
        APP.encode(), len(body), body)


@pytest.mark.parametrize("request_of", [bearer, custom])
@pytest.mark.parametrize("header", HEADERS)
def test_a_token_of_an_issuer_makes_few_of_its_keys_be_tried(meter, header, request_of):
    judge = Judge(meter)
    for algorithm, size in (("ES384", 96), ("ES256", 64), ("RS256", 256)):
        plain = forged(algorithm, size, HEADERS[header], hostile.ISSUER.replace("login", "other"))
        judge.judge(
            request_of.__name__, f"{algorithm} with {header}",
            request_of(forged(algorithm, size, HEADERS[header])), request_of(plain))
    judge.report()


@pytest.mark.parametrize("base", [b"", b"https://login.example.com", b"https://login.example.com/a"])
def test_a_resource_of_slashes_costs_what_one_of_letters_does(meter, amplified, base):
    """As many bytes as a resource may have: a longer one is refused before it is looked for."""
    def exchange(resource):
        body = b"&".join([
            b"grant_type=urn:ietf:params:oauth:grant-type:token-exchange", b"subject_token=a.b.c",
            b"subject_token_type=urn:ietf:params:oauth:token-type:jwt", b"resource=" + resource])
        return (
            b"POST /token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    size = 2048 - len(base)
    plain = meter.cost(exchange(base + b"a" * size), TRIES)[0]
    for text in (b"/" * size, b"/a" * (size // 2), b"a/" * (size // 2)):
        # Below what any request costs there is nothing to compare.
        assert meter.cost(exchange(base + text), TRIES)[0] <= 2 * plain + 0.0005, text[:4]


@pytest.fixture(scope="module")
def operators(amplified):
    meter = Meter(amplified, lambda server: Connection(server.operators()))
    yield meter
    meter.sender.close()


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/plugins"])
def test_no_host_costs_more_than_plain_text_where_operators_ask(operators, path):
    judge = Judge(operators)
    texts = {**hostile.TEXTS, "addresses": hostile.repeated("127.0.0.1:"), "groups": hostile.repeated("1:"),
             "brackets": hostile.repeated("["), "labels": hostile.repeated("a.")}
    def asking(text):
        return b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path.encode(), text.strip())

    for host, status in ((b"127.0.0.1:8081", 200), (b"[::1]", 200), (b"rebound.example.com", 421), (b"", 421)):
        assert operators.sender.send(asking(host)) == status, host
    for name, make in texts.items():
        for size in (8000, 500):
            judge.judge(f"Host of {path}", f"{name}, {size} bytes", asking(make(size)), asking(hostile.plain(size)))
    judge.report()
