"""Captured evidence of a server, read with another implementation of JOSE."""

import json
import os
import subprocess

import pytest
import requests
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from server import APP, DEBUG_TOKEN, Server

WRONG_TOKEN = "0B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C99"


@pytest.fixture
def captured(tmp_path, authority, apple):
    """A stopped server that refused one debug token, and the private key to its evidence."""
    key = tmp_path / "key.pem"
    public = subprocess.run(
        [os.environ["ASSAY"], "decisions", "keygen", key], capture_output=True, text=True, check=True).stdout
    server = Server(tmp_path, authority, apple, arguments=("--capture", tmp_path / "evidence"))
    (tmp_path / "policies" / "capture.yaml").write_text(f"capture: {{public_key: {json.dumps(public)}}}\n")
    server.start()
    try:
        for token, status in [(DEBUG_TOKEN, 200), (WRONG_TOKEN, 403)]:
            url = f"{server.address}/v1/{APP}:exchangeDebugToken"
            assert requests.post(url, json={"debugToken": token}, timeout=30).status_code == status
    finally:
        server.stop()
    return tmp_path / "evidence", ECKey.import_key(key.read_bytes())


def test_captured_evidence_is_a_jwe_for_the_key_of_the_policy(captured):
    folder, key = captured
    lines = [json.loads(line) for file in folder.iterdir() for line in file.read_text().splitlines()]
    assert len(lines) == 1
    assert lines[0]["kid"] == key.thumbprint()
    assert WRONG_TOKEN not in json.dumps(lines)
    message = jwe.decrypt_compact(lines[0]["jwe"], key, algorithms=["ECDH-ES", "A256GCM"])
    assert message.protected["kid"] == key.thumbprint()
    evidence = json.loads(message.plaintext)
    assert evidence["body"] == {"debugToken": WRONG_TOKEN}
    assert evidence["decision"] == lines[0]["decision"]
    assert evidence["reason"] == "debug_token_unknown"


def test_another_key_reads_nothing(captured):
    folder, _ = captured
    line = json.loads(next(folder.iterdir()).read_text())
    with pytest.raises(JoseError):
        jwe.decrypt_compact(line["jwe"], ECKey.generate_key("P-256"), algorithms=["ECDH-ES", "A256GCM"])
