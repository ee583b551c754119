"""No request costs much more CPU time than a plain one of its size, whatever is put into it.

For every method that `assay methods` lists, every path variable, parameter, header, member and form field is given hostile
texts and structures, at the largest size that is let through and at a fraction of it. What a text costs is held against
ASCII letters in the same place, what a structure costs against an ordinary structure of as many bytes in the same place:
three times as much at most, or under 5 ms. Times are CPU times of the server, not of the wall clock; only what is over the
bound is measured again, three times, and the least counts.

The bounds are ratios, and hold for any build. 5 ms are for a release build: in a debug build, which is slower by more
than ten times, fewer cases are let off by them, and so the test is stricter there. What is the same for every request of a
size, however plain, is bounded by the last rule: ordinary structures cost no more than their size.
"""

import collections
import datetime
import functools
import json
import os
import re
import subprocess
import time

import jwt
import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import hostile
import operations
from amplification import Checks, Connection, Meter
from envoy import CheckRequest
from fleet import Account
from server import ADMIN_TOKEN, APP, APP_ID, Apple, CLIENT, DEBUG_TOKEN, NUMBER, PROJECT, Server

FACTOR, FREE, TRIES = 3, 0.005, 3
# With this, every method is given every text in every header; otherwise headers that the server reads in the same way for
# all of them, and the texts for these, are shared out among the methods.
EXHAUSTIVE = "ASSAY_EXHAUSTIVE" in os.environ
# An operation that fails so often is not tried further.
ENOUGH = 40
AUTHORITY = "https://login.example.com"
LINKED = CLIENT.split("/")[1]


def listed():
    """The methods of the program, by name."""
    text = subprocess.run([os.environ["ASSAY"], "methods"], check=True, capture_output=True, text=True).stdout
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


class AmplifiedServer(Server):
    """One that has a method of every plugin, and Envoy's listener."""

    arguments = ("--ext-authz-listen", "127.0.0.1:0")

    def __init__(self, folder, authority, apple):
        super().__init__(folder, authority, apple)
        account, users = Account("server"), ec.generate_private_key(ec.SECP256R1())
        (folder / "account.json").write_text(account.key_file)
        key = dict(json.loads(jwt.algorithms.ECAlgorithm.to_jwk(users.public_key())), kid="k", use="sig", alg="ES256")
        (folder / "users.json").write_text(json.dumps({"keys": [key]}))
        issuer = {
            "issuer": hostile.ISSUER, "audiences": ["https://assay.example.com"], "jwks": f"file:{folder / 'users.json'}"}
        actor = {"claim": "groups", "values": ["dispatch"]}
        policy = {
            "callers": {
                "administrator": {"token": "env:ASSAY_ADMIN_TOKEN", "permissions": ["admin"]},
                "user": {"jwt": {**issuer, "subjects": ["s"]}, "permissions": ["admin"]},
            },
            "projects": [{
                "number": int(NUMBER), "id": PROJECT, "verification": {"accept_development": True},
                "services": {
                    "firestore.googleapis.com": {"enforcement": "UNENFORCED", "editable": True},
                    "oauth2.googleapis.com": {"editable": True},
                },
                "apps": [{
                    "id": APP_ID, "apple": {"team_id": "ABCDE12345", "bundle_id": "com.example.app"},
                    "providers": {
                        "app_attest": {"trust_anchor": authority.root_pem},
                        "device_check": {
                            "key_id": "SIMULATED1", "private_key": f"file:{apple.key_file}", "base_url": apple.url},
                        "debug": {
                            "managed": {"limit": 20}, "tokens": [{"name": "local", "token": "env:ASSAY_DEBUG_TOKEN"}]},
                        "custom": {
                            "issuers": [{**issuer, "app_claim": "app_id"}],
                            "service_accounts": [{"key_file": f"file:{folder / 'account.json'}"}],
                        },
                    },
                }],
                "oauth_clients": [{"id": LINKED, "app": APP_ID}],
                "consumers": {
                    "custom_backend": {
                        "tokens": {"accept_development": True},
                        "backends": {
                            "orders": {
                                "original_request": "x-original",
                                "routes": [{
                                    "path": "/pay/*", "methods": ["POST"], "tokens": {"limited_use": True}}],
                            },
                            "forwarded": {"original_request": "x-forwarded"},
                            "envoy": {"original_request": "transport", "routes": [{
                                "path": "/pay/*", "methods": ["POST"], "tokens": {"limited_use": True}}]},
                        },
                    },
                    "oauth_client": {
                        "authorization_servers": [AUTHORITY], "tokens": {"accept_development": True}, "attester": {},
                        "verifier": {}, "client_assertion": {"accept_development": True, "limited_use": False},
                        "introspection": {"accept_development": True},
                        "ear": {"audiences": ["https://relying-party.example.com"]},
                    },
                    "fleet_engine": {
                        "tokens": {"accept_development": True}, "account": f"file:{folder / 'account.json'}",
                        "actors": [issuer],
                        "roles": {
                            "server": {"actor": actor}, "driver": {"vehicle": {"claim": "vehicles"}},
                            "consumer": {"trip": {"claim": "trips"}},
                            "untrusted_delivery_driver": {"delivery_vehicle": {"claim": "vehicles"}},
                            "delivery_consumer": {"tracking": {"claim": "parcels"}},
                            "delivery_fleet_reader": {"actor": actor}, "fleet_reader": {"actor": actor},
                        },
                    },
                },
            }],
        }
        (folder / "policies" / "policy.yaml").write_text(json.dumps(policy))
        self.users = users
        self.starts = 0

    def target(self):
        """Where Envoy asks; of several starts, the last."""
        for _ in range(600):
            found = re.findall(r"address=(\S+) .*ext_authz is answered", (self.folder / "log").read_text(errors="replace"))
            if len(found) == self.starts:
                return found[-1]
            time.sleep(0.05)
        raise RuntimeError("Envoy's listener did not start")

    def start(self):
        super().start()
        self.starts += 1

    # What requests hold beside the text that is tried.

    def user_token(self):
        now = int(datetime.datetime.now(datetime.UTC).timestamp())
        claims = {
            "iss": hostile.ISSUER, "sub": "s", "aud": "https://assay.example.com", "iat": now, "exp": now + 3600,
            "groups": ["dispatch"], "vehicles": ["text"], "trips": ["text"], "parcels": ["text"], "app_id": APP_ID}
        return jwt.encode(claims, self.users, algorithm="ES256", headers={"kid": "k"})

    def app_token(self):
        reply = requests.post(
            f"{self.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": DEBUG_TOKEN}, timeout=30)
        reply.raise_for_status()
        return reply.json()["token"]

    def operations(self):
        printed = subprocess.run(
            [os.environ["ASSAY"], "methods", "--format", "openapi", "--policies", self.folder / "policies"],
            check=True, capture_output=True).stdout
        token, user = self.app_token(), self.user_token()
        samples = {
            "project": PROJECT, "app": APP_ID, "oauthClient": LINKED, "serviceId": "oauth2.googleapis.com",
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "actor_token": user,
            "actor_token_type": "urn:ietf:params:oauth:token-type:jwt", "audience": AUTHORITY, "resource": "",
            "scope": "", "requested_token_type": "", "appCheckToken": token, "token": token, "client_assertion": token,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:appcheck", "client_id": LINKED,
            "method": "POST", "uri": f"{AUTHORITY}/token", "clientAttestation": [user], "clientAttestationPop": [user],
            "dpop": [user], "customToken": user, "challenge": "AAAA", "artifact": "AAAA", "assertion": "AAAA",
            "attestationStatement": "AAAA", "keyId": "A" * 43 + "=", "deviceToken": Apple.device_token("amplified"),
            "jwk": {"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43},
            "name": f"projects/{NUMBER}/services/oauth2.googleapis.com", "updateMask": "enforcementMode",
            "requestId": "0123456789abcdef0123456789abcdef", "tokenTtl": "3600s",
        }
        credentials = {"Authorization": f"Bearer {ADMIN_TOKEN}", "X-Firebase-AppCheck": token}
        return operations.operations(json.loads(printed), samples, credentials)


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


# Escapes, by the kind of the place.

def in_json(text):
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def in_form(text):
    """As little as possible: also what is not ASCII stays as it is."""
    for byte in b"%&=+#? ":
        text = text.replace(bytes([byte]), b"%%%02X" % byte)
    return text


def escaped_whole(text):
    return b"".join(b"%%%02X" % byte for byte in text)


def in_header(text):
    return text.strip()


@functools.cache
def inner(make):
    return lambda size: make(size + 2)[1:-1]


ESCAPES = {
    "string": [("", in_json)], "form": [("", in_form), (" escaped", escaped_whole)],
    "form name": [("", in_form), (" escaped", escaped_whole)], "query": [("", in_form), (" escaped", escaped_whole)],
    "query name": [("", in_form), (" escaped", escaped_whole)],
    "path": [(" escaped", escaped_whole), ("", in_form)], "header": [("", in_header)], "header name": [("", in_header)],
}


@functools.lru_cache(512)
def filled(make, escape, room):
    """A text that fills the room once it is escaped."""
    size = room
    while size > 8:
        text = escape(make(size))
        if len(text) <= room:
            return text
        size = min(size - 1, size * room // len(text))
    return escape(make(8))


def joined(make, end=b"&"):
    return lambda size: end.join(make(size))


def each(form, count=250):
    """As many parameters as are let through, which fill the size."""
    return lambda size: [form(index, max(1, size // count)) for index in range(count)]


PARAMETERS = {
    "ampersands": hostile.repeated("&"), "equals": hostile.repeated("="), "empty values": hostile.repeated("a&"),
    "repeated names": joined(each(lambda index, size: b"a=" + b"1" * (size - 3))),
    "names with long equal prefixes": joined(each(lambda index, size: b"a" * (size - 7) + b"%03d=1" % index)),
    "names of marks": joined(each(lambda index, size: hostile.marks(size - 6) + b"%03d=" % index)),
    "values of marks": joined(each(lambda index, size: b"p%03d=" % index + hostile.marks(size - 6))),
    "parameters beyond number": lambda size: b"&".join(b"p%05d=1" % index for index in range(size // 9)),
}
ORDINARY_PARAMETERS = joined(each(lambda index, size: b"p%03d=" % index + b"a" * (size - 6)))
LINES = {
    "repeated names": hostile.repeated("X-A: 1\r\n"), "short names": hostile.repeated("B: 1\r\n"),
    "credentials": hostile.repeated("Authorization: Bearer a\r\n"), "tokens": hostile.repeated("X-Firebase-AppCheck: a\r\n"),
    "forwarded paths": hostile.repeated("X-Forwarded-Uri: /a\r\n"),
    "entity tags": hostile.repeated('If-None-Match: "a"\r\n'), "codings": hostile.repeated("Accept-Encoding: gzip\r\n"),
    "names with long equal prefixes": lambda size: b"".join(
        b"X-%s%03d: 1\r\n" % (b"a" * 100, index) for index in range(size // 111)),
    "values of marks": lambda size: b"".join(
        b"X-%03d: %s\r\n" % (index, hostile.marks(90)) for index in range(size // 100)),
}


def ordinary_lines(size):
    return b"".join(b"X-%03d: value\r\n" % index for index in range(size // 14))


OWN = ("Authorization: Bearer", "X-Firebase-AppCheck")
COMMON = [name for name in (f"header {name}{': ' + before.strip() if before else ''}" for name, before in operations.HEADERS)
          if name not in [f"header {each}" for each in OWN]]
ORDINARY = {
    "json": hostile.ordinary_structure, "members": hostile.ordinary_members, "parameters": ORDINARY_PARAMETERS,
    "headers": ordinary_lines,
}
TOKENS = list(hostile.tokens())
TOKEN_PLACE = ("token", "assertion", "attestation", "dpop", "jwt", "pop", "authorization: bearer", "authorization: dpop")
ALWAYS = ["marks", "flags", "invalid UTF-8", "commas", "ligatures"]


def variants(place, rank):
    """Texts for a place, each with its plain counterpart: names, hostile bytes and plain bytes.

    A place that all methods have in common gets some of the texts with each of them, and all of them together.
    """
    # Rounded, so that places of about one size have the same texts.
    room = place.room // 256 * 256
    sizes = [room, room // 8]
    if place.kind in ESCAPES:
        common = place.kind.startswith("header") or "unknown" in place.name or place.name.count(".") > 1
        texts = [
            (name, make, hostile.plain) for index, (name, make) in enumerate(hostile.TEXTS.items())
            if EXHAUSTIVE or name in ALWAYS[:2] or not (index + rank) % (8 if common else 2)]
        if place.kind in ("string", "form", "header") and any(word in place.name.lower() for word in TOKEN_PLACE):
            tokens = TOKENS
            texts += [each for index, each in enumerate(tokens) if EXHAUSTIVE or not (index + rank) % 4]
        for size in sizes:
            for name, make, plain in texts:
                if size != room and "marks" not in name and "flags" not in name:
                    continue
                for note, escape in ESCAPES[place.kind]:
                    if note and name not in ALWAYS:
                        continue
                    text = filled(make, escape, size)
                    letters = filled(plain, escape, len(text))
                    yield f"{name}{note}, {len(text)} bytes", text, letters
        return
    table = {
        "json": hostile.STRUCTURES,
        "members": {name: inner(make) for name, make in hostile.STRUCTURES.items() if "member" in name or "name" in name},
        "parameters": PARAMETERS, "headers": LINES,
    }[place.kind]
    ordinary = ORDINARY[place.kind]
    nested = place.name.count(".") > 1
    for index, (name, make) in enumerate(table.items()):
        if nested and (index + rank) % 4 and not EXHAUSTIVE:
            continue
        text = make(room)
        yield f"{name}, {len(text)} bytes", text, ordinary(room)


class Judge:
    """Compares what texts cost with what plain ones cost; what failed is in `failures`."""

    def __init__(self, meter):
        self.meter = meter
        self.plain = {}
        self.failures = []
        self.count = 0

    def judge(self, name, text, request, plain_request):
        self.count += 1
        cost, _ = self.meter.cost(request)
        if cost <= FREE:
            return
        plain = self._plain(plain_request)
        if cost <= FACTOR * plain:
            return
        for _ in range(TRIES if cost < 1 else 0):
            cost = min(cost, self.meter.cost(request)[0])
            plain = max(plain, self.meter.cost(plain_request)[0])
            if cost <= max(FREE, FACTOR * plain):
                return
        self.failures.append(f"{name}: {text}: {cost * 1000:.1f} ms, {cost / plain:.0f} times a plain one")

    def grows(self, name, place, make):
        """Judges whether an ordinary structure costs no more than its size."""
        self.count += 1
        parts = 16
        whole, part = (place.request(make(place.room // each)) for each in (1, parts))
        for _ in range(TRIES + 1):
            cost, share = self.meter.cost(whole)[0], self.meter.cost(part)[0]
            if cost <= max(FREE, FACTOR * parts * share):
                return
        self.failures.append(
            f"{name}: an ordinary structure: {cost * 1000:.1f} ms, {cost / share:.0f} times one of a {parts}th of its size")

    def _plain(self, request):
        key = hash(request)
        if key not in self.plain:
            self.plain[key] = self.meter.cost(request, 2)[0]
        return self.plain[key]

    def report(self):
        assert not self.failures, f"{len(self.failures)} of {self.count}:\n" + "\n".join(self.failures)


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
