"""Staging and production from one set: the example of the article *Staging and production*, with a real server for each stage."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

EXAMPLE = pathlib.Path(__file__).parent.parent / "Examples/Stages"
DEBUG_TOKEN = "0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"
APPS = {
    "production": "projects/example-project/apps/1:1234567890:ios:321abc456def7890",
    "staging": "projects/example-staging/apps/1:9876543210:ios:0123456789abcdef",
}


@pytest.fixture(scope="module")
def environment():
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    return dict(os.environ, ASSAY_DEVICE_CHECK_KEY=key, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN)


@pytest.fixture
def stages(tmp_path):
    """A copy of the example, in which the links are links."""
    return pathlib.Path(shutil.copytree(EXAMPLE, tmp_path / "Stages", symlinks=True))


def run(*arguments, environment, status=0):
    done = subprocess.run(
        [os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Server:
    """`assay serve` for a stage, as the article starts it."""

    def __init__(self, stages, stage, environment):
        self.stage, self.log = stage, stages / f"{stage}.log"
        production = ["--production"] if stage == "production" else []
        self.process = subprocess.Popen(
            [os.environ["ASSAY"], "serve", *production, "--policies", stages / stage, "--state", "memory",
             "--keys", stages / f"{stage}-keys", "--listen", "127.0.0.1:0", "--operations", "public", "--watch", "100ms"],
            stdout=subprocess.PIPE, stderr=open(self.log, "ab"), text=True, env=environment)
        line = self.process.stdout.readline()
        assert "assay listens on " in line, self.log.read_text()
        self.address = line.split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(timeout=30) == 0

    def debug(self):
        return requests.post(
            f"{self.address}/v1/{APPS[self.stage]}:exchangeDebugToken", json={"debugToken": DEBUG_TOKEN}, timeout=30)

    def revision(self):
        return requests.get(f"{self.address}/readyz", timeout=30).json()["revision"]


def test_each_stage_links_to_what_both_share():
    for stage in APPS:
        assert (EXAMPLE / stage / "shared.yaml").is_symlink()
        assert (EXAMPLE / stage / "shared.yaml").samefile(EXAMPLE / "shared.yaml")


def test_each_stage_is_good_and_only_one_is_for_production(stages, environment):
    for stage in APPS:
        good = run("policy", "check", stages / stage, environment=environment)
        assert "1 app and 0 OAuth clients, all good" in good
        run("policy", "fmt", "--check", stages / stage, environment=environment)
        assert re.fullmatch(r"\d+ passed\n", run("policy", "test", stages / stage, environment=environment))
    run("policy", "check", "--production", stages / "production", environment=environment)
    refused = run("policy", "check", "--production", stages / "staging", environment=environment, status=1)
    assert "debug` is for development" in refused and "`stage: development` is for development" in refused


def test_a_server_for_each_stage_decides_by_its_own_set(stages, environment):
    with Server(stages, "staging", environment) as staging, Server(stages, "production", environment) as production:
        assert staging.debug().status_code == 200
        assert production.debug().json()["error"]["status"] == "FAILED_PRECONDITION"
        challenges = [
            requests.post(f"{server.address}/v1/{APPS[server.stage]}:generateAppAttestChallenge", timeout=30).status_code
            for server in [staging, production]]
        assert challenges == [200, 200]
        # Neither knows the other's app.
        other = f"{production.address}/v1/{APPS['staging']}:generateAppAttestChallenge"
        assert requests.post(other, timeout=30).status_code == 404


def test_a_change_of_what_is_shared_reaches_both(stages, environment):
    with Server(stages, "staging", environment) as staging, Server(stages, "production", environment) as production:
        before = {server: server.revision() for server in [staging, production]}
        shared = stages / "shared.yaml"
        (stages / "new").write_text(shared.read_text().replace('"17.0"', '"18.0"'))
        (stages / "new").rename(shared)
        end = time.monotonic() + 30
        for server, revision in before.items():
            # The log says it after the change is in force.
            while server.revision() == revision or (
                    "old-ios.when.os_version.below: 17.0 -> 18.0" not in server.log.read_text()):
                assert time.monotonic() < end, server.log.read_text()
                time.sleep(0.05)
