"""Profiles and rules over facts, with a real server: what is refused, marked, tried, counted and recorded."""

import base64
import json
import signal
import time

import pytest
import requests

from device import Device
from server import ADMIN_TOKEN, APP, APPLE_ID, DEBUG_TOKEN, POLICY, Server

RULES = """\
        rules:
          - {name: forbidden, when: {debug_token: forbidden}, then: refuse}
          - {name: everybody, then: refuse, enforcement: shadow}
          - {name: tester, when: {provider: debug}, then: mark, claim: true}
          - {name: production, when: {environment: {not: production}}, then: refuse}
"""
SECOND = "1F9C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"


def with_rules(rules=RULES):
    """The policy of the other tests, whose app has its providers from a profile, and rules of its own."""
    head, rest = POLICY.split("projects:\n", 1)
    section = rest.split("        apple:", 1)[1].split("    oauth_clients:", 1)[0]
    section = section.replace(
        '{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}',
        '{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}\n'
        f'              - {{name: forbidden, token: "file:FOLDER/second"}}')
    rest = rest.replace(rest.split("      - id: APP_ID\n", 1)[1].split("    oauth_clients:", 1)[0], rules)
    rest = rest.replace("      - id: APP_ID\n", "      - id: APP_ID\n        profile: phones\n", 1)
    lines = [line[4:] if line.startswith("    ") else line for line in ("        apple:" + section).splitlines()]
    return head + "profiles:\n  phones:\n" + "\n".join(lines) + "\nprojects:\n" + rest


@pytest.fixture
def server(authority, apple, tmp_path):
    secret = tmp_path / "second"
    secret.write_text(SECOND)
    secret.chmod(0o600)
    server = Server(
        tmp_path, authority, apple, text=with_rules().replace("FOLDER", str(tmp_path)),
        arguments=("--audit", str(tmp_path / "audit.ndjson")))
    server.start()
    yield server
    assert server.stop() == 0


def exchange(server, token):
    return requests.post(f"{server.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": token}, timeout=30)


def claims(reply):
    payload = reply.json()["token"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def record(server, reply):
    """The line of the audit file about a reply."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for line in (server.folder / "audit.ndjson").read_text().splitlines():
            if json.loads(line).get("decision") == reply.headers["x-assay-decision"]:
                return json.loads(line)
        time.sleep(0.05)
    raise AssertionError("the decision is not on record")


def matches(server, rule, effect):
    text = requests.get(f"{server.address}/metrics", timeout=30).text
    return [
        float(line.split()[-1]) for line in text.splitlines()
        if line.startswith("assay_rule_matches_total{") and f'rule="{rule}"' in line and f'effect="{effect}"' in line]


def test_marked(server):
    reply = exchange(server, DEBUG_TOKEN)
    assert reply.status_code == 200
    assert claims(reply)["assay_mark"] == "tester"
    found = record(server, reply)
    assert (found["outcome"], found["rule"], found["would_refuse"]) == ("issued", "tester", ["everybody"])
    assert matches(server, "tester", "mark") == [1]
    assert matches(server, "everybody", "shadow_refuse") == [1]


def test_refused(server):
    reply = exchange(server, SECOND)
    assert reply.status_code == 403
    assert reply.json()["error"]["message"] == "App attestation failed."
    found = record(server, reply)
    assert (found["outcome"], found["reason"], found["rule"]) == ("refused", "rule_refused", "forbidden")
    assert "would_refuse" not in found
    assert found["facts"]["debug_token"] == "forbidden"
    assert matches(server, "forbidden", "refuse") == [1]
    # A token that no rule has seen is refused as before.
    other = exchange(server, "00000000-0000-4000-8000-000000000000")
    assert "rule" not in record(server, other)


def test_attested_device(server, authority):
    device = Device(authority, APPLE_ID)
    nonce = base64.b64decode(
        requests.post(f"{server.address}/v1/{APP}:generateAppAttestChallenge", json={}, timeout=30).json()["challenge"])
    reply = requests.post(
        f"{server.address}/v1/{APP}:exchangeAppAttestAttestation", timeout=30,
        json={
            "attestationStatement": base64.b64encode(device.attest(nonce)).decode(),
            "challenge": base64.b64encode(nonce).decode(), "keyId": device.key_id,
        })
    assert reply.status_code == 200, reply.text
    found = record(server, reply)
    assert found["would_refuse"] == ["everybody"]
    assert "rule" not in found


def test_rules_are_reloaded(server):
    """A wrong rule leaves all as it is, with its place in the log; a good one is in force at once."""
    file = server.folder / "policies" / "policy.yaml"
    text = file.read_text()
    file.write_text(text.replace("{debug_token: forbidden}", "{debug_tokn: forbidden}"))
    server.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 30
    while "no provider of the app tells the fact" not in (server.folder / "log").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "did you mean `debug_token`?" in (server.folder / "log").read_text()
    assert exchange(server, SECOND).status_code == 403
    file.write_text(text.replace("then: refuse, enforcement: shadow", "then: refuse"))
    server.process.send_signal(signal.SIGHUP)
    while exchange(server, DEBUG_TOKEN).status_code != 403:
        assert time.monotonic() < end
        time.sleep(0.05)
