"""What the article *Recover at night* tells an operator to do, with a real server."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
import requests

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Clients"))

from device import Authority, Device  # noqa: E402
from server import ADMIN_TOKEN, APP, APPLE_ID, DEBUG_TOKEN, POLICY, PROJECT, Apple, Server  # noqa: E402
import tokens  # noqa: E402

SIZING = HERE.parent.parent / "Sources/AssayEngine/AssayEngine.docc/Sizing.md"
BACKED = POLICY + "    consumers: {custom_backend: {tokens: {accept_development: true}, backends: {orders: {}}}}\n"


def run(*arguments, status=0):
    done = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    assert apple.stop() == 0


@pytest.fixture
def server(tmp_path, authority, apple):
    server = Server(tmp_path, authority, apple, BACKED, ["--audit", tmp_path / "audit.jsonl"])
    server.start()
    yield server
    if server.process.poll() is None:
        assert server.stop() == 0


def readiness(server):
    return requests.get(f"{server.address}/readyz", timeout=30).json()


def until(condition, server):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, (server.folder / "log").read_text()
        time.sleep(0.05)


def consume(server, token):
    return requests.post(
        f"{server.address}/v1beta/projects/{PROJECT}:verifyAppCheckToken", json={"appCheckToken": token},
        headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}, timeout=30)


def limited(server):
    return tokens.call(server, APP, "exchangeDebugToken", {"debugToken": DEBUG_TOKEN, "limitedUse": True})["token"]


def test_keys_that_are_gone_while_the_server_runs(server, authority):
    """It continues from memory, says so, does not start again without them, and takes a copy that is put back."""
    state, folder = f"sqlite:{server.folder / 'state.sqlite'}", server.folder / "state.sqlite-keys"
    device = Device(authority, APPLE_ID)
    run("state", "backup", "--state", state, "--with-keys", server.folder / "copy.sqlite")
    (folder / "keys.json").unlink()
    until(lambda: readiness(server)["status"] == "degraded", server)
    assert "keys: could not be reloaded" in readiness(server)["reason"]
    metrics = requests.get(f"{server.address}/metrics", timeout=30).text
    assert 'assay_last_reload_successful{subject="keys"} 0' in metrics
    assert tokens.attested_by(device, server, APP)
    assert "keys are lost" in run("state", "check", "--state", state, "--keys", folder, status=1)
    # A request for a reload changes nothing.
    server.process.send_signal(signal.SIGHUP)
    assert consume(server, limited(server)).json() == {}

    (folder / "keys.json").write_bytes((server.folder / "copy.sqlite-keys/keys.json").read_bytes())
    (folder / "keys.json").chmod(0o600)
    until(lambda: readiness(server)["status"] == "ok", server)
    assert "keys can be read again" in (server.folder / "log").read_text()
    assert f"all keys that it was used with are in {folder}" in run("state", "check", "--state", state, "--keys", folder)

    (folder / "keys.json").unlink()
    assert server.stop() == 0
    with pytest.raises(RuntimeError, match="keys are lost"):
        server.start()
    assert server.process.wait(timeout=30) == 2
    assert not (folder / "keys.json").exists()


def test_a_leaked_signing_key_that_is_revoked(server):
    keys = server.folder / "state.sqlite-keys"
    token = tokens.call(server, APP, "exchangeDebugToken", {"debugToken": DEBUG_TOKEN})["token"]
    old = tokens.part(token, 0)["kid"]
    run("keys", "revoke", "--keys", keys, "--", old)
    until(lambda: consume(server, token).status_code == 403, server)
    published = requests.get(f"{server.address}/v1/jwks", timeout=30).json()["keys"]
    assert [key["kid"] for key in published] and old not in [key["kid"] for key in published]
    assert consume(server, limited(server)).json() == {}


def test_a_restored_backup_takes_new_tokens_once(server):
    """Also after a wrong clock, which left the later state without memory: that of the copy is whole."""
    database = server.folder / "state.sqlite"
    keys = f"{database}-keys"
    copy = server.folder / "copy.sqlite"
    run("state", "backup", "--state", f"sqlite:{database}", "--with-keys", copy)
    before = limited(server)
    assert consume(server, before).json() == {}
    assert server.stop() == 0
    for ending in ["", "-wal", "-shm"]:
        pathlib.Path(f"{database}{ending}").unlink(missing_ok=True)
    database.write_bytes(copy.read_bytes())
    database.chmod(0o600)
    assert "it is a copy" in run("state", "check", "--state", f"sqlite:{database}", "--keys", keys)
    server.start()
    assert consume(server, before).json() == {"alreadyConsumed": True}
    # A token is dated by the second: one of the second in which the state began counts as older.
    accepted = []

    def is_accepted():
        accepted.append(limited(server))
        return consume(server, accepted[-1]).json() == {}

    until(is_accepted, server)
    assert consume(server, accepted[-1]).json() == {"alreadyConsumed": True}


def test_a_server_that_is_killed_starts_again_with_what_was_used_and_not_without_its_log(server):
    used = []
    # At each moment of a start as well as later.
    for delay in [*range(0, 400, 20), None]:
        if delay is None:
            token = limited(server)
            assert consume(server, token).json() == {}
            used.append(token)
        server.process.kill()
        server.process.wait(timeout=30)
        server.start()
        for token in used:
            assert consume(server, token).json() == {"alreadyConsumed": True}
        if delay is not None:
            server.process.kill()
            server.process.wait(timeout=30)
            early = server.spawn()
            time.sleep(delay / 1000)
            early.kill()
            early.communicate(timeout=30)
            server.start()
    server.process.kill()
    server.process.wait(timeout=30)
    state = server.folder / "state.sqlite"
    log = server.folder / "state.sqlite-wal"
    log.rename(server.folder / "moved")
    assert "-wal is missing or empty" in run("state", "check", "--state", f"sqlite:{state}", status=1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="-wal is missing or empty"):
            server.start()
        assert not log.exists()
    (server.folder / "moved").rename(log)
    server.start()
    assert consume(server, used[0]).json() == {"alreadyConsumed": True}
    assert server.stop() == 0
    assert not log.exists()
    server.start()
    assert consume(server, used[0]).json() == {"alreadyConsumed": True}


def test_the_bytes_of_records_are_what_the_article_says(server, authority):
    device = Device(authority, APPLE_ID)
    token = tokens.attested_by(device, server, APP)
    reply = tokens.call(server, APP, "generateAppAttestChallenge")
    assert reply["challenge"]
    assert consume(server, token).status_code == 200
    asked = requests.get(
        f"{server.address}/verify/orders", headers={"X-Firebase-AppCheck": token}, timeout=30)
    assert asked.status_code == 204
    until(lambda: b"verifyRequest" in (server.folder / "audit.jsonl").read_bytes(), server)
    table = SIZING.read_text().split("| decision | audit record |")[1].split("\n\n")[0]
    documented = {name: int(size) for name, size in re.findall(r"^\| `(\w+)`[^|]*\| (\d+) \|", table, re.M)}
    assert len(documented) == 5
    found = {}
    for line in (server.folder / "audit.jsonl").read_bytes().splitlines(keepends=True):
        found[json.loads(line).get("method")] = len(line)
    for method in documented.keys() & found.keys():
        assert abs(found[method] / documented[method] - 1) < 0.2, (method, found[method], documented[method])
    assert len(documented.keys() & found.keys()) == 4
