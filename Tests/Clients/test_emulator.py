"""The article *App Check emulator*: its commands, one after the other, and its module for the web, against the server that they start."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

import tokens
from proxies import free_port
from server import DEBUG_TOKEN

ARTICLE = pathlib.Path(__file__).parent.parent.parent / "Sources/AssayEngine/AssayEngine.docc/Emulator.md"
ADDRESS = "127.0.0.1:8099"


def blocks(language, port):
    found = re.findall(rf"```{language}\n(.*?)```", ARTICLE.read_text(), re.S)
    return [block.replace(ADDRESS, f"127.0.0.1:{port}") for block in found]


def run(folder, script):
    """What a shell prints that has the program in its path; what it started ends with it."""
    (folder / "bin").mkdir()
    (folder / "bin/assay").symlink_to(os.environ["ASSAY"])
    environment = dict(
        os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", XDG_STATE_HOME=str(folder / "home"), HOME=str(folder))
    with open(folder / "out", "w") as out, open(folder / "errors", "w") as errors:
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
            stderr=errors, text=True, start_new_session=True)
        try:
            status = process.wait(timeout=300)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    assert status == 0, (folder / "out").read_text() + (folder / "errors").read_text()
    return (folder / "out").read_text()


@pytest.fixture
def emulator(tmp_path):
    port = free_port()
    (tmp_path / "emulator").mkdir()
    [policy] = blocks("yaml", port)
    (tmp_path / "emulator/policy.yaml").write_text(policy)
    return tmp_path, port


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl")
def test_every_command_of_the_article(emulator):
    folder, port = emulator
    commands = blocks("sh", port)
    assert len(commands) == 6 and "assay serve" in commands[0] and commands[-1].strip() == "kill %1"
    script = "".join(f"echo '>>> {number}'\n{command}\necho\n" for number, command in enumerate(commands))
    # The token that a command keeps in a variable, and the end of the server that the last one waits for.
    script = script.replace(commands[2], f'echo "$TOKEN"\n{commands[2]}') + "wait\n"
    said = [part.strip() for part in re.split(r"^>>> \d\n", run(folder, script), flags=re.M)[1:]]
    assert "assay listens on" in said[0]
    exchange = json.loads(said[1])
    assert exchange["ttl"] == "1800s" and tokens.part(exchange["token"], 1)["development"] is True
    token, allowed, refused = said[2].splitlines()
    assert tokens.part(token, 1)["aud"] == ["projects/1234567890", "projects/example-project"]
    assert (allowed, refused) == ("204", "401")
    first, second = re.findall(r"\{[^}]*\}", said[3])
    assert (json.loads(first), json.loads(second)) == ({}, {"alreadyConsumed": True})
    assert json.loads(said[4])["displayName"] == "run 42"


@pytest.mark.skipif(not (shutil.which("node") and shutil.which("curl")), reason="there is no node, or no curl")
def test_the_module_for_the_web(emulator):
    folder, port = emulator
    [module] = blocks("javascript", port)
    assert DEBUG_TOKEN in module
    (folder / "provider.mjs").write_text(module)
    start = blocks("sh", port)[0]
    program = (
        "import { getToken } from './provider.mjs'; const before = Date.now(); const { token, expireTimeMillis } = await getToken();"
        " console.log(JSON.stringify({ token, left: expireTimeMillis - before }));")
    (folder / "ask.mjs").write_text(program)
    said = run(folder, f"{start}\nnode ask.mjs\nkill %1\nwait\n").splitlines()
    found = json.loads(said[-1])
    assert tokens.part(found["token"], 1)["sub"] == "1:1234567890:web:321abc456def7890"
    assert found["left"] >= 1800 * 1000
