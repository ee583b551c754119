"""Files that released versions wrote, read by the present program. They are never changed; `stored/write` made them."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
import requests
from joserfc import jws
from joserfc.jwk import KeySet

from server import ADMIN_TOKEN, APP, NUMBER, Server

STORED = pathlib.Path(__file__).parent / "stored"
MANAGED = "5F0D2C4B-9E1A-4C3D-8B7A-6E5F4D3C2B1A"
ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
ENVIRONMENT = dict(os.environ, ASSAY_ADMIN_TOKEN=ADMIN_TOKEN, ASSAY_TOKEN=ADMIN_TOKEN, ASSAY_DEBUG_TOKEN=MANAGED)


class NoAuthority:
    root_pem = key_file = url = ""


@pytest.fixture(params=sorted(path.name for path in STORED.iterdir() if path.is_dir()))
def stored(request, tmp_path):
    """A copy of what a version wrote, with the modes that it had: a repository keeps none."""
    folder = tmp_path / "stored"
    shutil.copytree(STORED / request.param, folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def assay(*arguments):
    done = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_state_and_keys_serve_on(stored, tmp_path):
    server = Server(
        tmp_path, NoAuthority, NoAuthority, "{}",
        ("--keys", stored / "keys", "--state", f"sqlite:{stored / 'state.sqlite'}", "--audit", stored / "audit.jsonl"))
    shutil.rmtree(tmp_path / "policies")
    shutil.copytree(stored / "policies", tmp_path / "policies")
    before = (stored / "audit.jsonl").read_bytes()
    server.start()
    try:
        # What administrators had made is in force.
        answer = requests.post(f"{server.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": MANAGED}, timeout=30)
        assert answer.status_code == 200, answer.text
        service = requests.get(
            f"{server.address}/v1/projects/{NUMBER}/services/orders.example.com", headers=ADMIN, timeout=30).json()
        assert service["enforcementMode"] == "ENFORCED"
        entries = assay("deny", "list", "--endpoint", server.address, "--project", NUMBER)
        assert "debug_token_id" in entries and "stored" in entries
    finally:
        assert server.stop() == 0
    # The chain of the audit file continues.
    assert (stored / "audit.jsonl").read_bytes().startswith(before)
    assay("audit", "verify", stored / "audit.jsonl")


def test_keys(stored):
    kept = json.loads((stored / "jwks.json").read_text())["keys"]
    present = json.loads(assay("keys", "export", "--keys", stored / "keys"))["keys"]
    assert {key["kid"] for key in kept} <= {key["kid"] for key in present}
    token = (stored / "token.jwt").read_text()
    claims = json.loads(jws.deserialize_compact(token, KeySet.import_key_set({"keys": present}), algorithms=["RS256"]).payload)
    assert claims["sub"] == APP.split("/")[-1]


def test_audit_file(stored):
    assay("audit", "verify", stored / "audit.jsonl")
    lines = [json.loads(line) for line in (stored / "audit.jsonl").read_text().splitlines()]
    refused = next(line for line in lines if line.get("reason") == "debug_token_unknown")
    assert "debug_token_unknown" in assay("decisions", "show", refused["decision"], "--audit", stored / "audit.jsonl")
    assert refused["decision"] in assay("decisions", "list", "--audit", stored / "audit.jsonl")
    assert "debug_token_unknown" in assay("decisions", "stats", "--by", "reason", "--audit", stored / "audit.jsonl")
    assert assay("audit", "events", stored / "audit.jsonl")
    # Judged by the policies that it was made under, and found the same.
    difference = assay(
        "policy", "diff", stored / "policies", stored / "policies", "--against", stored / "audit.jsonl")
    assert " 0 different" in difference


def test_captured_evidence(stored):
    replay = assay(
        "decisions", "replay", "--evidence", stored / "evidence", "--key", stored / "evidence.pem",
        "--policies", stored / "policies", "--format", "json").splitlines()
    assert json.loads(replay[0])["then"]["reason"] == "debug_token_unknown"
    # Debug tokens of administrators are in the state, which no replay reads.
    assert json.loads(replay[0])["result"] == "not_judged"


def test_policies_and_their_bundle(stored):
    assay("policy", "check", stored / "policies")
    assert "policy.yaml" in assay("policy", "bundle", "verify", "--key", stored / "bundle.pub", stored / "policies.bundle")


def test_state_is_whole(stored):
    assay("state", "check", "--state", f"sqlite:{stored / 'state.sqlite'}", "--keys", stored / "keys")
