"""Holds a server against its own description in OpenAPI, with what schemathesis makes of it."""

import os
import pathlib
import subprocess
import sys

import pytest

from device import Authority
from server import ADMIN_TOKEN, Server

CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method", "allow_header_conformance", "ignored_auth",
]


@pytest.fixture
def own_server(apple, tmp_path):
    """One that other tests do not look at: its levels and policies change all the time."""
    server = Server(tmp_path, Authority(), apple)
    server.start()
    yield server
    assert server.stop() == 0


def test_every_answer_is_declared_and_none_is_a_fault(own_server, tmp_path):
    description = tmp_path / "openapi.json"
    with description.open("w") as file:
        subprocess.run(
            [os.environ["ASSAY"], "methods", "--format", "openapi", "--policies", tmp_path / "policies"],
            check=True, stdout=file)
    run = subprocess.run(
        [
            pathlib.Path(sys.executable).parent / "schemathesis", "run", description, "--url", own_server.address,
            "--header", f"Authorization: Bearer {ADMIN_TOKEN}", "--checks", ",".join(CHECKS),
            "--phases", "examples,coverage,fuzzing", "--max-examples", "30", "--seed", "1", "--request-timeout", "30",
            "--generation-database", "none", "--no-color", "--warnings", "off",
        ],
        cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
