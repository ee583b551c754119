"""A machine's clock that is wrong for a while, with a real server whose time of day a preloaded library changes."""

import os
import pathlib
import subprocess
import sys
import time

import pytest
import requests

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Clients"))

from device import Authority  # noqa: E402
from server import ADMIN_TOKEN, APP, DEBUG_TOKEN, POLICY, PROJECT, Apple, Server  # noqa: E402
import tokens  # noqa: E402

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time) {
    int (*original)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = original(id, time);
    FILE *file = id == CLOCK_REALTIME ? fopen(getenv("TEST_CLOCK"), "r") : NULL;
    long seconds = 0;
    if (file && fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
    if (file) fclose(file);
    return result;
}
"""


class Clock:
    """The time of day of a server; its uptime continues."""

    def __init__(self, folder):
        self.file = folder / "offset"
        self.library = folder / "clock.so"
        (folder / "clock.c").write_text(SOURCE)
        subprocess.run(["clang", "-shared", "-fPIC", "-o", self.library, folder / "clock.c"], check=True)
        self.set(0)

    def set(self, seconds):
        # The library reads the file at each call: it is never empty.
        draft = self.file.with_suffix(".new")
        draft.write_text(f"{seconds}\n")
        os.replace(draft, self.file)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(self.library), "TEST_CLOCK": str(self.file)}


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    assert apple.stop() == 0


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


@pytest.fixture
def server(tmp_path, authority, apple, clock, monkeypatch):
    server = Server(tmp_path, authority, apple, POLICY)
    with monkeypatch.context() as patch:
        for name, value in clock.environment.items():
            patch.setenv(name, value)
        server.start()
    yield server
    assert server.stop() == 0


def consume(server, token):
    return requests.post(
        f"{server.address}/v1beta/projects/{PROJECT}:verifyAppCheckToken", json={"appCheckToken": token},
        headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}, timeout=30)


def token(server, limited=True):
    return tokens.call(server, APP, "exchangeDebugToken", {"debugToken": DEBUG_TOKEN, "limitedUse": limited})["token"]


def readiness(server):
    return requests.get(f"{server.address}/readyz", timeout=30).json()


def until(condition, server):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, (server.folder / "log").read_text()
        time.sleep(0.05)


def test_a_clock_that_is_thirty_days_ahead_for_a_moment(server, clock):
    """It is said while it lasts, and afterwards new tokens are accepted, once, and used ones are not."""
    # Beside the tokens that live for minutes, one is used that lives longer.
    used = token(server)
    until(lambda: consume(server, token(server)).json() == {}, server)
    assert consume(server, used).status_code == 200
    assert consume(server, token(server, limited=False)).status_code == 200
    assert readiness(server)["status"] == "ok"

    clock.set(30 * 86_400)
    for _ in range(40):
        assert consume(server, token(server)).status_code == 200
    assert readiness(server)["status"] == "degraded"
    assert "the time of day jumped forward by 259" in readiness(server)["reason"]

    clock.set(0)
    assert readiness(server)["status"] == "ok"
    assert consume(server, used).json() == {"alreadyConsumed": True}
    for _ in range(5):
        fresh = token(server)
        assert consume(server, fresh).json() == {}
        assert consume(server, fresh).json() == {"alreadyConsumed": True}
