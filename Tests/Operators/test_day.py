"""A day of an operator: two sets of twelve apps, a bad change, a good one that is tried, compared and enforced, a key that is denied, and an
incident that is looked up. Everything with the program itself."""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest
import requests

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Clients"))

from device import Authority, Device  # noqa: E402
from server import ADMIN_TOKEN, APP, APPLE_ID, DEBUG_TOKEN, PROJECT, Apple, Server  # noqa: E402

SETS = {"production": ["apps", "production"], "staging": ["apps", "staging"]}


def run(*arguments, status=0, **options):
    """What a command prints, after it ended as it should."""
    environment = dict(os.environ, ASSAY_ADMIN_TOKEN=ADMIN_TOKEN, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN, ASSAY_TOKEN=ADMIN_TOKEN)
    done = subprocess.run(
        [os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=60, **options)
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    return done.stdout + done.stderr


def write(folder, name, authority, apple, change=lambda text: text):
    """Writes a set to a folder."""
    folder.mkdir(exist_ok=True)
    for file in SETS[name]:
        text = (HERE / "sets" / f"{file}.yaml").read_text()
        text = text.replace("KEY_FILE", str(apple.key_file)).replace("ANCHOR", json.dumps(authority.root_pem))
        (folder / f"{file}.yaml").write_text(change(text))
    return folder


def with_rule(rule):
    """A change of the profile of the app under test: one more rule before its own."""
    def change(text):
        return text.replace("claim: true}\n", f"claim: true}}\n      - {rule}\n")
    return change


NO_LAPTOPS = "{name: no-laptops, when: {debug_token: laptop}, then: refuse}"
TRIED = NO_LAPTOPS.replace("}, then: refuse}", "}, then: refuse, enforcement: shadow}")


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    assert apple.stop() == 0


class Day:
    """A server with the staging set, and what its operator does."""

    def __init__(self, folder, authority, apple):
        self.folder, self.authority, self.apple = folder, authority, apple
        self.audit = folder / "audit.ndjson"
        self.server = Server(
            folder, authority, apple, text="projects: []",
            arguments=("--audit", self.audit, "--watch", "100ms", "--capture", folder / "evidence"))
        (folder / "policies" / "policy.yaml").unlink()
        self.policies = write(folder / "policies", "staging", authority, apple)
        self.key = folder / "key.pem"
        public = run("decisions", "keygen", self.key)
        (self.policies / "capture.yaml").write_text(f"capture: {{public_key: {json.dumps(public)}}}\n")
        self.server.start()

    def change(self, change):
        """Puts a changed set in force, as an operator does: written elsewhere and renamed."""
        before = self.revision()
        for file in SETS["staging"]:
            text = change((HERE / "sets" / f"{file}.yaml").read_text())
            text = text.replace("KEY_FILE", str(self.apple.key_file)).replace("ANCHOR", json.dumps(self.authority.root_pem))
            (self.folder / "new").write_text(text)
            (self.folder / "new").rename(self.policies / f"{file}.yaml")
        self.until(lambda: self.revision() != before)

    def revision(self):
        return requests.get(f"{self.server.address}/readyz", timeout=30).json().get("revision")

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def post(self, method, body, resource=APP, **options):
        return requests.post(f"{self.server.address}/v1/{resource}:{method}", json=body, timeout=30, **options)

    def laptop(self):
        return self.post("exchangeDebugToken", {"debugToken": DEBUG_TOKEN})

    def attest(self, device):
        nonce = base64.b64decode(self.post("generateAppAttestChallenge", {}).json()["challenge"])
        return self.post(
            "exchangeAppAttestAttestation", {
                "attestationStatement": base64.b64encode(device.attest(nonce)).decode(),
                "challenge": base64.b64encode(nonce).decode(), "keyId": device.key_id})

    def assertion(self, device, artifact):
        nonce = base64.b64decode(self.post("generateAppAttestChallenge", {}).json()["challenge"])
        return self.post(
            "exchangeAppAttestAssertion", {
                "artifact": artifact, "challenge": base64.b64encode(nonce).decode(),
                "assertion": base64.b64encode(device.assertion(base64.b64decode(artifact) + nonce)).decode()})

    def verify(self, token):
        return self.post(
            "verifyAppCheckToken", {"appCheckToken": token}, resource=f"projects/{PROJECT}",
            headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})

    def lines(self):
        return [json.loads(line) for line in self.audit.read_text().splitlines()]

    def record(self, reply):
        decision = reply.headers["x-assay-decision"]
        self.until(lambda: any(line.get("decision") == decision for line in self.lines()))
        return next(line for line in self.lines() if line.get("decision") == decision)


@pytest.fixture
def day(tmp_path, authority, apple):
    day = Day(tmp_path, authority, apple)
    yield day
    if day.server.process.poll() is None:
        assert day.server.stop() == 0


def test_two_sets_of_twelve_apps_are_short(tmp_path, authority, apple):
    texts = {file: (HERE / "sets" / f"{file}.yaml").read_text() for files in SETS.values() for file in files}
    assert sum(len(text.splitlines()) for text in texts.values()) <= 60
    assert "".join(texts.values()).count("ABCDE12345") == 2
    for name in SETS:
        folder = write(tmp_path / name, name, authority, apple)
        production = ["--production"] if name == "production" else []
        assert "12 apps and 0 OAuth clients, all good" in run("policy", "check", *production, folder)
        run("policy", "fmt", "--check", folder)
    assert "is for development" in run("policy", "check", "--production", tmp_path / "staging", status=1)
    shown = run("policy", "show", "1:1234567890:ios:0000000000000009", "--policies", tmp_path / "production")
    assert re.search(r"team_id: ABCDE12345 +# .*apps\.yaml:\d+:\d+ profile ios", shown)
    assert "device_check" not in shown
    apple.key_file.rename(apple.key_file.with_suffix(".away"))
    try:
        assert "1 secret not read" in run("policy", "check", "--without-secrets", tmp_path / "production")
        run("policy", "check", tmp_path / "production", status=1)
    finally:
        apple.key_file.with_suffix(".away").rename(apple.key_file)


def test_a_bad_change_is_refused(day):
    revision = day.revision()
    file = day.policies / "apps.yaml"
    good = file.read_text()
    file.write_text(good.replace("{below: 1h}", "{belov: 1h}"))
    day.until(lambda: "did you mean `below`?" in (day.folder / "log").read_text())
    assert requests.get(f"{day.server.address}/readyz", timeout=30).json()["status"] == "degraded"
    assert day.laptop().status_code == 200
    assert day.revision() == revision
    file.write_text(good)
    day.until(lambda: requests.get(f"{day.server.address}/readyz", timeout=30).json()["status"] == "ok")
    events = [line for line in day.lines() if line.get("event") == "policies_refused"]
    assert len(events) == 1 and "apps.yaml:" in events[0]["details"]["first"]
    # The same text as before is no change.
    assert not [line for line in day.lines() if line.get("event") == "policies_changed"]


def test_a_good_change_is_tried_compared_and_enforced(day, tmp_path, authority, apple):
    first = [day.laptop() for _ in range(3)]
    device = Device(authority, APPLE_ID)
    assert day.attest(device).status_code == 200
    assert [reply.status_code for reply in first] == [200] * 3
    assert "would_refuse" not in day.record(first[0])

    day.change(with_rule(TRIED))
    tried = day.laptop()
    assert tried.status_code == 200
    assert day.record(tried)["would_refuse"] == ["no-laptops"]
    # The event is recorded when the policies are in force, and so beside the decisions under them.
    day.until(lambda: any(line.get("event") == "policies_changed" for line in day.lines()))
    changed = [line for line in day.lines() if line.get("event") == "policies_changed"]
    assert changed[-1]["details"]["summary"].startswith("apps 1 changed")
    assert "rules" in (day.folder / "log").read_text()
    metrics = requests.get(f"{day.server.address}/metrics", timeout=30).text
    assert re.search(r'assay_rule_matches_total\{.*rule="no-laptops",effect="shadow_refuse"\} 1\b', metrics)

    old = write(tmp_path / "old", "staging", authority, apple)
    new = write(tmp_path / "new-set", "staging", authority, apple, with_rule(NO_LAPTOPS))
    report = run("policy", "diff", old, new, "--against", day.audit, status=1)
    assert "exchangeDebugToken: issued -> refused rule_refused (rule no-laptops): 4, such as" in report
    (new / "day_test.yaml").write_text(
        'tests:\n  - {name: laptops are refused, app: "1:1234567890:ios:321abc456def7890", provider: debug, '
        "facts: {debug_token: laptop}, expect: {verdict: refused, rule: no-laptops}}\n")
    assert "1 passed" in run("policy", "test", new)
    (old / "day_test.yaml").write_text((new / "day_test.yaml").read_text())
    assert "1 failed" in run("policy", "test", old, status=1)

    day.change(with_rule(NO_LAPTOPS))
    refused = day.laptop()
    assert refused.status_code == 403
    record = day.record(refused)
    assert (record["reason"], record["rule"], record["revision"]) == (
        "rule_refused", "no-laptops", f"staging-1@{day.revision()}")
    assert record["route"] == "POST /v1/{resource=projects/*/apps/*}:exchangeDebugToken"
    assert "no-laptops" in run("decisions", "stats", "--by", "rule", "--audit", day.audit)

    # Without the rule, the captured evidence would be accepted.
    day.until(lambda: list((day.folder / "evidence").iterdir()))
    replayed = run(
        "decisions", "replay", "--evidence", day.folder / "evidence", "--key", day.key, "--policies", old, status=1)
    assert "different" in replayed
    (day.policies / "capture.yaml").rename(new / "capture.yaml")
    assert "different 1" not in run(
        "decisions", "replay", "--evidence", day.folder / "evidence", "--key", day.key, "--policies", new)


def test_a_key_is_denied_and_the_incident_looked_up(day):
    device, other = Device(day.authority, APPLE_ID), Device(day.authority, APPLE_ID)
    attested, untouched = day.attest(device), day.attest(other)
    token = attested.json()["appCheckToken"]["token"]
    kept = untouched.json()["appCheckToken"]["token"]
    deny = ["--endpoint", day.server.address, "--project", PROJECT]
    name = run("deny", "add", *deny, "--key-id", device.key_id, "--until", "1h", "--note", "incident 42").strip()
    refused = day.assertion(device, attested.json()["artifact"])
    assert refused.status_code == 403
    assert day.verify(token).status_code == 403
    assert day.verify(kept).status_code == 200
    assert day.assertion(other, untouched.json()["artifact"]).status_code == 200
    listed = run("deny", "list", *deny)
    assert name in listed and "incident 42" in listed and "by administrator" in listed

    record = day.record(refused)
    assert record["reason"] == "evidence_denied" and "incident 42" in record["detail"]
    decision = refused.headers["x-assay-decision"]
    start = time.monotonic()
    explained = run("decisions", "show", decision, "--audit", day.audit)
    assert time.monotonic() - start < 60
    for words in ["evidence_denied", "incident 42", device.key_id, "assay deny remove"]:
        assert words in explained
    found = run("decisions", "list", "--reason", "evidence_denied", "--key-id", device.key_id, "--audit", day.audit)
    assert decision in found
    run("decisions", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--audit", day.audit, status=1)
    url = f"{day.server.address}/v1/projects/{PROJECT}/decisions/{decision}"
    day.until(lambda: requests.get(url, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}, timeout=30).status_code == 200)
    assert requests.get(url, timeout=30).status_code == 401

    run("deny", "remove", *deny, name)
    assert day.assertion(device, attested.json()["artifact"]).status_code == 200
    assert day.verify(token).status_code == 200
    assert [line["event"] for line in day.lines() if line.get("event", "").startswith("deny_")] == ["deny_added", "deny_removed"]
    run("deny", "remove", *deny, name, status=2)

    assert day.server.stop() == 0
    assert "intact" in run("audit", "verify", day.audit)
    lines = day.audit.read_bytes().splitlines(keepends=True)
    for changed in [lines[:3] + lines[4:], lines[:3] + [lines[3].replace(b"192", b"193").replace(b"2026", b"2027")] + lines[4:]]:
        day.audit.write_bytes(b"".join(changed))
        assert f"{day.audit}:4" in run("audit", "verify", day.audit, status=1)
