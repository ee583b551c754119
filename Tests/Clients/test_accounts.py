"""What clients were answered, what the audit file and the log say of it, and what metrics count, are one account.

Every method gets requests that succeed and requests that fail in each way that a stranger, a device or a caller can fail; then
each answer is held against the records that its decision left behind.
"""

import base64
import collections
import json
import re
import time

import pytest
import requests

import tokens
from amplified import AmplifiedServer
from device import Device
from server import ADMIN_TOKEN, APP, APPLE_ID, DEBUG_TOKEN

# The status of an answer by what Google calls its code.
STATUS = {
    "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}
# Methods that answer by other statuses: a proxy that asks about a request understands 401 and 403 alone; RFC 9578, section 6.2.
OTHERS = {("verifyRequest", 400): 403, ("verifyRequest", 404): 403, ("issuePrivateTokens", 400): 422}
DONE = {"challenged", "issued", "answered"}
# How the log begins about each outcome.
WORDS = {
    "challenged": {"challenge issued"}, "issued": {"token issued"}, "answered": {"call answered"},
    "refused": {"evidence refused", "call refused"}, "rejected": {"request rejected"}, "error": {"no decision"},
}
SERIES = re.compile(r'^(\w+)\{(.*)\} (\S+)$')


class AccountedServer(AmplifiedServer):
    operations_place = "public"

    def __init__(self, folder, authority, apple):
        self.arguments = ("--audit", str(folder / "audit.jsonl"), "--log-format", "json", "--log-level", "debug")
        super().__init__(folder, authority, apple)


class Account:
    """Sends requests, and keeps what was answered by the identifier of the decision."""

    def __init__(self, server):
        self.server = server
        self.session = requests.Session()
        self.answers = {}

    def send(self, verb, target, headers=(), body=b"", what=""):
        reply = self.session.request(
            verb, self.server.address + target, headers=dict(headers), data=body, timeout=30, allow_redirects=False)
        decision = reply.headers.get("x-assay-decision")
        if decision:
            assert decision not in self.answers, "an identifier is given once"
            self.answers[decision] = (reply, f"{verb} {target} {what}")
        return reply

    def call(self, resource, verb, **body):
        return self.send("POST", f"/v1/{resource}:{verb}", [("Content-Type", "application/json")], json.dumps(body))


def send_operations(account, server):
    """Each method as it should be, without a caller, with a wrong one, without a body, and with a token that is none."""
    for operation in server.operations():
        verb, target, headers, body = operation.plain()
        for what, changes, text in [
            ("as it should be", {}, body), ("without a caller", {"Authorization": None}, body),
            ("with a wrong caller", {"Authorization": "Bearer " + "wrong" * 8}, body),
            ("with a caller's JWT that is none", {"Authorization": "Bearer e30.e30.e30"}, body),
            ("without a body", {}, ""), ("with no JSON", {}, "{" * 20),
            ("with a token that is none", {"X-Firebase-AppCheck": "e30.e30.e30"}, body),
            ("without a token", {"X-Firebase-AppCheck": None}, body),
            ("of an unknown app", {}, body),
        ]:
            if what == "of an unknown app":
                target = target.replace("/apps/1%3A", "/apps/9%3A").replace("/apps/1:", "/apps/9:")
            changed = {name: value for name, value in {**headers, **changes}.items() if value is not None}
            account.send(verb, target, changed, text, what)


def send_tokens(account, server, forger, limited):
    bad = forger.unacceptable()
    shown = [("good", forger.token()), ("limited-use", limited), ("the same again", limited), *bad.items()]
    for backend, (path, verb) in {
        "orders": ("X-Original-URI", "X-Original-Method"), "forwarded": ("X-Forwarded-Uri", "X-Forwarded-Method"),
    }.items():
        for target, method in [("/", "GET"), ("/pay/1", "POST"), ("/pay%2F1", "POST"), ("no path", "GET")]:
            for name, token in shown:
                headers = {path: target, verb: method}
                if token:
                    headers["X-Firebase-AppCheck"] = token
                account.send("GET", f"/verify/{backend}", headers, what=f"{method} {target}, a token that is {name}")
    for name, token in shown:
        caller = [("Authorization", f"Bearer {ADMIN_TOKEN}"), ("Content-Type", "application/json")]
        account.send(
            "POST", f"/v1beta/{APP.split('/apps')[0]}:verifyAppCheckToken", caller,
            json.dumps({"appCheckToken": token}), f"a token that is {name}")


def send_attestations(account, authority):
    """A device's whole life, and each part of it again and wrongly."""
    def challenge():
        return account.call(APP, "generateAppAttestChallenge").json()["challenge"]

    def text(data):
        return base64.b64encode(data).decode()

    device, stranger = Device(authority, APPLE_ID), Device(authority, "ABCDE12345.com.example.other")
    given = challenge()
    statement = text(device.attest(base64.b64decode(given)))
    attestation = {"attestationStatement": statement, "challenge": given, "keyId": device.key_id}
    artifact = account.call(APP, "exchangeAppAttestAttestation", **attestation).json()["artifact"]
    account.call(APP, "exchangeAppAttestAttestation", **attestation)
    account.call(APP, "exchangeAppAttestAttestation", **{**attestation, "challenge": challenge()})
    other = challenge()
    account.call(
        APP, "exchangeAppAttestAttestation", attestationStatement=text(stranger.attest(base64.b64decode(other))),
        challenge=other, keyId=stranger.key_id)
    for spoiled in ["AAAA", text(b"\xa0"), text(base64.b64decode(statement)[:-1])]:
        account.call(
            APP, "exchangeAppAttestAttestation", attestationStatement=spoiled, challenge=challenge(), keyId=device.key_id)
    clones = []
    for counter in [None, 0, 0]:
        given = challenge()
        if counter is not None:
            device.counter = counter
        assertion = text(device.assertion(base64.b64decode(artifact) + base64.b64decode(given)))
        body = {"assertion": assertion, "challenge": given, "artifact": artifact}
        clones.append(account.call(APP, "exchangeAppAttestAssertion", **body))
        account.call(APP, "exchangeAppAttestAssertion", **body)
    account.call(APP, "exchangeAppAttestAssertion", **{**body, "challenge": challenge()})
    account.call(APP, "exchangeAppAttestAssertion", **{**body, "challenge": challenge(), "artifact": text(b"\1" * 90)})
    account.call(APP, "exchangeDebugToken", debugToken="E1C3D0B9-7A5F-4E2D-8C6B-0A9F8E7D6C5B")
    account.call(APP, "exchangeDebugToken", debugToken="no token")
    account.call(APP.replace("1:", "9:"), "exchangeDebugToken", debugToken=DEBUG_TOKEN)
    return device.key_id, [reply.headers["x-assay-decision"] for reply in clones]


@pytest.fixture(scope="module")
def swept(authority, apple, tmp_path_factory):
    server = AccountedServer(tmp_path_factory.mktemp("accounts"), authority, apple)
    server.start()
    account = Account(server)
    good = tokens.debug(server, APP, DEBUG_TOKEN)
    limited = tokens.attested(server, authority, APP, APPLE_ID, limited=True)
    send_operations(account, server)
    send_tokens(account, server, tokens.Forger(server, good), limited)
    account.key_id, account.clones = send_attestations(account, authority)
    account.session.close()
    records = [record for record in map(json.loads, settled(server)) if "event" not in record]
    metrics = requests.get(f"{server.address}/metrics", timeout=30).text
    assert server.stop() == 0
    account.secrets = [good, limited, server.user_token()]
    account.all = records
    # What the fixtures themselves asked for is on record, too.
    account.records = [record for record in records if record["decision"] in account.answers]
    account.log = [json.loads(line) for line in (server.folder / "log").read_text().splitlines()]
    account.series = [found.groups() for found in map(SERIES.match, metrics.splitlines()) if found]
    return account


def settled(server):
    """The lines of the audit file once nothing more comes."""
    path, last = server.folder / "audit.jsonl", None
    while True:
        present = path.read_text() if path.exists() else ""
        if present == last:
            return present.splitlines()
        last = present
        time.sleep(0.3)


def labels(text):
    return dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', text))


def test_each_answer_has_one_record_and_one_line(swept):
    counts = collections.Counter(record["decision"] for record in swept.all)
    lines = collections.Counter(line.get("decision") for line in swept.log if line.get("decision"))
    refusals = {(record["method"], record.get("reason"), record.get("status")) for record in swept.records}
    assert len(swept.answers) > 500 and len(refusals) > 120
    # What is the same for everybody is no decision: the key set, and what is said of issuers.
    answers = {
        decision: what for decision, (_, what) in swept.answers.items() if " /v1/jwks" not in what and "/.well-known/" not in what}
    assert {what: counts[decision] for decision, what in answers.items() if counts[decision] != 1} == {}
    missing = [what for decision, what in answers.items() if lines[decision] == 0]
    assert missing == []


def test_records_say_what_clients_were_answered(swept):
    wrong = []
    for record in swept.records:
        reply, what = swept.answers[record["decision"]]
        outcome, status = record["outcome"], reply.status_code
        usual = STATUS.get(record.get("status"))
        agrees = {
            "refused": record.get("reason") and (
                # It does not exist for the public.
                status == 404 if record["reason"] == "consumer_unknown" else
                status == STATUS[record["status"]] if record.get("status") else status in (400, 401, 403)),
            "rejected": status == OTHERS.get((record["method"], usual), usual),
            "error": status >= 500 and status == STATUS.get(record.get("status")),
        }.get(outcome, outcome in DONE and status < 300)
        error = reply.json().get("error") if reply.text.startswith('{"error":{') else None
        if error and error["code"] != status:
            agrees = False
        use = record.get("token_use")
        # Of a token that was used before, a service is told with 200 that it was.
        if use and use["admitted"] != (status < 300 and '"alreadyConsumed":true' not in reply.text):
            agrees = False
        if not agrees:
            wrong.append((what, status, reply.text[:200], record))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(map(str, wrong[:20]))


def test_the_log_says_what_records_say(swept):
    lines = collections.defaultdict(list)
    for line in swept.log:
        if line.get("decision"):
            lines[line["decision"]].append(line)
    wrong = []
    for record in swept.records:
        said = [line for line in lines[record["decision"]] if line["message"] in WORDS[record["outcome"]]]
        if len(said) != 1:
            wrong.append(("message", record, lines[record["decision"]]))
        for name in ["method", "provider", "reason", "status", "peer", "caller"]:
            if {line.get(name) for line in said} != {record.get(name)}:
                wrong.append((name, record, said))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(map(str, wrong[:10]))


def test_metrics_count_what_records_say(swept):
    decisions, uses = collections.Counter(), collections.Counter()
    for record in swept.all:
        decisions[record["method"], record["outcome"], record.get("reason") or record.get("status") or ""] += 1
        if use := record.get("token_use"):
            uses[use["category"], use.get("service", ""), str(use["admitted"]).lower()] += 1
    counted, used = collections.Counter(), collections.Counter()
    for name, text, value in swept.series:
        found = labels(text)
        if name == "assay_decisions_total":
            counted[found["method"], found["outcome"], found["reason"]] += int(float(value))
        if name == "assay_token_uses_total":
            used[found["category"], found["service"], found["admitted"]] += int(float(value))
    assert {key: (decisions[key], counted[key]) for key in decisions | counted if decisions[key] != counted[key]} == {}
    assert {key: (uses[key], used[key]) for key in uses | used if uses[key] != used[key]} == {}


def test_a_clone_is_seen_by_its_key(swept):
    records = {record["decision"]: record for record in swept.records}
    first, *others = [records[decision] for decision in swept.clones]
    assert first["outcome"] == "issued"
    for record in others:
        assert (record["reason"], record["facts"]["key_id"]) == ("counter_not_advanced", swept.key_id)


def test_no_secret_is_on_record(swept):
    text = json.dumps(swept.all) + json.dumps(swept.log)
    secrets = [ADMIN_TOKEN, DEBUG_TOKEN, *swept.secrets, *(token.rsplit(".", 1)[1] for token in swept.secrets)]
    assert [secret for secret in secrets if secret in text] == []
