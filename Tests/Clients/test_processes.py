"""A plugin in Python, in a process of its own: the example of Tests/Examples/PythonPlugin."""

import base64
import concurrent.futures
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import requests

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "Tests/Examples/PythonPlugin"
APP = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
KEY = b"a-key-of-the-factory"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example with its generated modules, and policies that name it."""
    folder = tmp_path_factory.mktemp("processes")
    for name in ["device_code.py", "simulator.py"]:
        shutil.copy(EXAMPLE / name, folder)
    protocol = ROOT / "Sources/AssayProcesses/Protocol"
    subprocess.run(
        [
            sys.executable, "-m", "grpc_tools.protoc", f"-I{protocol}", f"--python_out={folder}",
            f"--grpc_python_out={folder}", "plugin.proto",
        ], check=True)
    for policies in ["policies", "conformance"]:
        shutil.copytree(EXAMPLE / policies, folder / policies)
        names = folder / policies / "plugins.yaml"
        text = names.read_text().replace("/opt/device-code/bin/python", sys.executable)
        names.write_text(text.replace("/opt/device-code", str(folder)))
    return folder


class Server:
    def __init__(self, folder, scratch):
        self.log = scratch / "log"
        self.process = subprocess.Popen(
            [
                os.environ["ASSAY"], "serve", "--policies", folder / "policies", "--state", "memory", "--keys",
                scratch / "keys", "--listen", "127.0.0.1:0", "--operations", "public",
            ],
            stdout=subprocess.PIPE, stderr=open(self.log, "wb"), text=True,
            env=dict(os.environ, DEVICE_KEY_A1=KEY.decode(), SECRET_OF_THE_SERVER="x"))
        line = self.process.stdout.readline()
        assert "listens on" in line, self.log.read_text()
        self.address = line.split()[-1]

    def post(self, method, body=None):
        return requests.post(f"{self.address}/v1/{APP}:{method}", json=body or {}, timeout=30)

    def exchange(self, serial="A1", key=KEY, challenge=None):
        challenge = challenge or self.challenge()
        signature = hmac.new(key, base64.b64decode(challenge), hashlib.sha256).digest()
        return self.post(
            "exchangeDeviceCode",
            {"challenge": challenge, "serial": serial, "signature": base64.b64encode(signature).decode()})

    def challenge(self):
        return self.post("generateDeviceCodeChallenge").json()["challenge"]

    def plugin(self):
        """The number of the plugin's process."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
        found = [int(word) for file in children for word in file.read_text().split()]
        return found[0] if found else None

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=60)


@pytest.fixture
def server(folder, tmp_path):
    server = Server(folder, tmp_path)
    yield server
    process = server.plugin()
    assert server.stop() == 0
    assert process is None or not pathlib.Path(f"/proc/{process}").exists()


def reasons(server):
    return re.findall(r"reason=(device_code_\w+|challenge_\w+)", server.log.read_text())


def test_exchanges(server):
    assert server.exchange().json()["ttl"]
    assert server.exchange(serial="B2").status_code == 403
    assert server.exchange(key=b"another").status_code == 403
    challenge = server.challenge()
    assert server.exchange(challenge=challenge).status_code == 200
    assert server.exchange(challenge=challenge).status_code == 403
    assert server.exchange().status_code == 200
    # The fourth of three.
    assert server.exchange().status_code == 403
    assert reasons(server) == [
        "device_code_unknown", "device_code_wrong", "challenge_already_used", "device_code_retired"]
    assert "device_exchanges=4" in server.log.read_text()
    missing = server.post("exchangeDeviceCode", {"challenge": server.challenge()})
    assert missing.status_code == 400 and "serial" in missing.json()["error"]["message"]


def conformance(folder):
    """The report on the plugin that a folder names."""
    done = subprocess.run(
        [os.environ["ASSAY"], "conformance", "--policies", folder, "--quick", "--json"], capture_output=True, text=True,
        timeout=600)
    return done.returncode, json.loads(done.stdout)[0]


def test_it_keeps_the_contract(folder):
    status, report = conformance(folder / "conformance")
    assert status == 0 and report["passed"], report
    checks = {check["check"]: check for check in report["checks"]}
    assert checks["replay"]["calls"] > 0 and checks["restart"]["calls"] > 0


def test_what_breaks_the_contract_is_found(folder, tmp_path):
    """The same plugin, which compares the beginnings of signatures."""
    code = (folder / "device_code.py").read_text()
    wrong = code.replace(
        'hmac.compare_digest(expected, fields["signature"].bytes)', 'expected[:4] == fields["signature"].bytes[:4]')
    assert wrong != code
    shutil.copytree(folder, tmp_path / "wrong", dirs_exist_ok=True)
    (tmp_path / "wrong/device_code.py").write_text(wrong)
    names = tmp_path / "wrong/conformance/plugins.yaml"
    names.write_text(names.read_text().replace(str(folder), str(tmp_path / "wrong")))
    status, report = conformance(tmp_path / "wrong/conformance")
    failed = {check["check"] for check in report["checks"] if check["result"] == "failed"}
    assert status == 1 and "bit-flips" in failed, report


def test_many_at_once(server):
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: server.exchange().status_code, range(60)))
    assert sorted(answers) == [200] * 3 + [403] * 57


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_freezes_is_started_again(server, number):
    assert server.exchange().status_code == 200
    first = server.plugin()
    os.kill(first, number)
    started = time.monotonic()
    assert requests.get(f"{server.address}/livez", timeout=5).status_code == 200
    while time.monotonic() < started + 60:
        if server.plugin() not in (first, None) and server.exchange().status_code == 200:
            break
        time.sleep(0.2)
    else:
        raise AssertionError(server.log.read_text())
    assert "is started again" in server.log.read_text()


def test_its_environment_and_files_are_its_own(server):
    process = server.plugin()
    variables = pathlib.Path(f"/proc/{process}/environ").read_bytes()
    assert b"SECRET_OF_THE_SERVER" not in variables and b"DEVICE_KEY_A1" not in variables
    files = [os.readlink(link) for link in pathlib.Path(f"/proc/{process}/fd").iterdir()]
    ours = {
        file for file in (os.readlink(link) for link in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir())
        if file.startswith(("socket:", "pipe:", "anon_inode:"))}
    assert not [file for file in files if file.startswith("socket:") and file in ours]


def test_the_server_says_what_it_runs(server, folder):
    page = requests.get(f"{server.address}/plugins", timeout=30).json()
    assert "device_code" in json.dumps(page) and "1.0.0" in json.dumps(page)
    listed = subprocess.run(
        [os.environ["ASSAY"], "plugins", "list", "--policies", folder / "policies"], capture_output=True, text=True,
        env=dict(os.environ, DEVICE_KEY_A1="x"))
    assert listed.returncode == 0, listed.stderr
    assert "provider device_code 1.0.0, stable" in listed.stdout
    assert "proves: The request comes from a device whose key the factory knows." in listed.stdout
    assert f"used by: {APP.replace('example-project', '1234567890')}, ready" in listed.stdout


def test_wrong_files_are_refused_at_their_place(folder, tmp_path):
    policies = tmp_path / "policies"
    shutil.copytree(folder / "policies", policies)

    def check():
        return subprocess.run([os.environ["ASSAY"], "policy", "check", policies], capture_output=True, text=True)

    assert check().returncode == 0
    policy = policies / "policy.yaml"
    good = policy.read_text()
    for old, new, expected in [
        ("serial: A1", "serial: A-1", "policy.yaml:9:26: .*a serial number is letters and digits"),
        ("exchanges: 3", "exchanges: 0", "policy.yaml:10:24: .*expected a number from 1 to 1000000"),
        ("exchanges", "exchange", "(?s)policy.yaml:10:13: .*unknown key `exchange`.*did you mean `exchanges`"),
        ("env:DEVICE_KEY_A1", "a-key-itself", "policy.yaml:9:35: .*refer to it as env:NAME or file:PATH"),
    ]:
        policy.write_text(good.replace(old, new))
        refused = check()
        assert refused.returncode == 1
        assert re.search(expected, refused.stderr), refused.stderr
        assert "a-key-itself" not in refused.stderr
    policy.write_text(good)
    plugins = policies / "plugins.yaml"
    plugins.write_text(plugins.read_text().replace("command: [", "command: [/nonexistent"))
    refused = check()
    assert refused.returncode == 1
    assert re.search(r"policy.yaml:7:11: .*device_code.*No such file or directory", refused.stderr), refused.stderr
    plugins.write_text("providers: {device_code: {comand: [/bin/true]}}\n")
    refused = check()
    assert refused.returncode == 1
    assert re.search(r"(?s)plugins.yaml:1:27: .*unknown key `comand`.*did you mean `command`", refused.stderr)


def test_a_changed_list_of_plugins_takes_effect_at_the_next_start(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copytree(folder / "policies", copy / "policies")
    server = Server(copy, tmp_path)
    try:
        plugins = copy / "policies/plugins.yaml"
        plugins.write_text(plugins.read_text() + "# changed\n")
        for _ in range(200):
            ready = requests.get(f"{server.address}/readyz", timeout=30)
            if "plugins: could not be reloaded" in ready.text:
                break
            time.sleep(0.1)
        assert ready.status_code == 200 and json.loads(ready.text)["status"] == "degraded"
        assert "takes effect when the server is started again" in server.log.read_text()
        assert server.exchange().status_code == 200
    finally:
        assert server.stop() == 0
