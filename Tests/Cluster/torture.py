"""Three nodes behind HAProxy on one shared state, while servers are killed, paused and cut off by turns.

At the end a checker reads what every client was told, and every audit record.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Clients"))

import checker
from cluster import Host, Node, Postgres, Proxy, Relay, run, wait
from device import Authority
from generator import ADMIN_TOKEN, Client, Generator
from server import APP_ID, NUMBER, PROJECT
from valkey import Valkey

POLICY = f"""\
callers:
  administrator: {{token: "env:ASSAY_ADMIN_TOKEN", permissions: [admin]}}
projects:
  - number: {NUMBER}
    id: {PROJECT}
    apps:
      - id: "{APP_ID}"
        apple: {{team_id: ABCDE12345, bundle_id: com.example.app}}
        providers:
          app_attest:
            trust_anchor: ANCHOR
"""


UPGRADE = "a node is replaced by another version"


class Database:
    """PostgreSQL with a synchronous standby, and what happens to it."""

    def __init__(self, folder, forgets):
        self.hosts = [Host("pg1", 31), Host("pg2", 32)]
        self.first = Postgres(self.hosts[0], folder, "pg1")
        self.second = Postgres(self.hosts[1], folder, "pg2")
        self.relays = {host: Relay(host, folder, 5433, 5432) for host in self.hosts}
        for relay in self.relays.values():
            relay.start()
        self.forgets = forgets
        self.first.make()
        self.first.configure(synchronous="")
        self.first.start()
        self.first.ask("CREATE DATABASE assay")
        self.join(self.second)

    def join(self, standby):
        standby.follow(self.first)
        standby.start()
        if not self.forgets:
            self.first.require_standby(standby)

    @property
    def location(self):
        addresses = ",".join(f"{host.address}:5433" for host in self.hosts)
        # Nodes find a lost server soon, by the system's own means where no packet comes back.
        return (
            f"postgres://postgres@{addresses}/assay?target_session_attrs=read-write&sslmode=disable&connect_timeout=2"
            "&tcp_user_timeout=3000")

    def fail_over(self, end):
        """The first server ends in some way; the other one takes its place, and it comes back as the standby."""
        if self.forgets:
            # What the standby has not received is lost with the first server.
            self.second.host.cut()
            time.sleep(2)
        end()
        time.sleep(1)
        self.first.kill()
        self.second.host.mend()
        self.second.promote()
        self.first, self.second = self.second, self.first
        self.second.host.mend()
        time.sleep(2)
        self.join(self.second)

    def faults(self):
        return {
            "the database is killed, and the standby takes over": lambda: self.fail_over(self.first.kill),
            "the database hangs, and the standby takes over": lambda: self.fail_over(self.first.pause),
            "the database is cut off, and the standby takes over": lambda: self.fail_over(self.first.host.cut),
            "the database is restarted": self.restart,
            "the standby is away for a while": self.lose_standby,
            "replies of the database come twice": lambda: self.relays[self.first.host].repeat(5),
        }

    def restart(self):
        self.first.terminate()
        self.first.start()

    def lose_standby(self):
        self.second.pause()
        time.sleep(4)
        self.second.resume()

    def stop(self):
        for server in (self.first, self.second):
            server.resume()
            server.kill()
        for relay in self.relays.values():
            relay.kill()


class Trial:
    def __init__(self, folder, arguments):
        self.folder, self.arguments = pathlib.Path(folder), arguments
        self.chance = random.Random(arguments.seed)
        self.authority = Authority()
        self.log, self.nodes, self.proxy, self.store = [], [], None, None
        # How often the policies changed, and how many nodes were replaced by another version.
        self.version, self.replaced = 0, 0
        self.found = []

    def start(self):
        """Starts all servers, and waits until they serve."""
        arguments = self.arguments
        isolated = Host.prepare()
        self.say("hosts: " + ("network namespaces" if isolated else "this machine alone, with no partitions: namespaces cannot be made"))
        forgets = arguments.store.startswith("forgetful")
        self.store = (Valkey if "valkey" in arguments.store else Database)(self.folder, forgets)
        master = self.folder / "master.key"
        master.write_bytes(secrets.token_bytes(32))
        master.chmod(0o600)
        self.master = master
        policy = POLICY.replace("ANCHOR", json.dumps(self.authority.root_pem))
        self.nodes = [
            Node(Host(f"n{number}", 11 + number), self.folder / f"n{number}", policy, self.store.location, f"state:file:{master}")
            for number in range(3)]
        self.check_empty_database()
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            wait(lambda: self.ready(node) is not None, f"{node.host.name} serves: see {node.folder}/log")
        self.proxy = Proxy(self.folder / "proxy", self.nodes)
        self.proxy.start()
        wait(lambda: self.page(self.proxy.address, "/livez") is not None, "the proxy answers")
        self.generator = Generator(
            self.authority, [self.proxy.address, *(node.address for node in self.nodes)], arguments.clients)

    def check_empty_database(self):
        """A node makes no keys in an empty database, which may be the wrong one: they are made by a command, once."""
        node = self.nodes[0]
        node.start()
        status = node.process.wait(30)
        log = (node.folder / "log").read_text()
        if status != 2 or "there are no keys" not in log:
            self.found.append(f"{node.host.name} did not refuse an empty database, and ended with {status}")
        self.keys_command(node, "init")

    def keys_command(self, node, *words, check=True):
        run(*node.host.command(node.program, "keys", *words, "--keys", node.keys, "--state", self.store.location), check=check)

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)

    @staticmethod
    def page(address, path):
        try:
            with urllib.request.urlopen("http://%s:%d%s" % (*address, path), timeout=3) as reply:
                return reply.read().decode()
        except (OSError, ValueError):
            return None

    def ready(self, node):
        return self.page(node.address, "/readyz")

    # Faults

    def kill_node(self):
        node = self.chance.choice(self.nodes)
        node.kill()
        time.sleep(2)
        node.start()

    def upgrade_node(self):
        """One node after the other is replaced, first by the other version, and then by the first one again."""
        node = self.nodes[self.replaced % len(self.nodes)]
        self.replaced += 1
        try:
            node.terminate()
        except subprocess.TimeoutExpired:
            self.found.append(f"{node.host.name} did not end within 30 s of SIGTERM")
            node.kill()
        versions = (os.environ["ASSAY"], self.arguments.other)
        node.program = versions[node.program == versions[0]]
        node.start()
        self.say(f"  {node.host.name} runs {node.program}")

    def pause_node(self):
        node = self.chance.choice(self.nodes)
        node.pause()
        time.sleep(4)
        node.resume()

    def cut_node(self):
        node = self.chance.choice(self.nodes)
        node.host.cut()
        time.sleep(5)
        node.host.mend()

    def restart_proxy(self):
        self.proxy.kill()
        self.proxy.start()

    def change_policy(self):
        self.version += 1
        for node in self.nodes:
            node.write_policy(self.version)

    def rotate_keys(self):
        # It may be refused while the state is away.
        self.keys_command(self.nodes[0], "prepare", check=False)

    def faults(self):
        faults = {
            "a node is killed": self.kill_node, "a node hangs for a while": self.pause_node,
            "the proxy is killed": self.restart_proxy, "the policies change": self.change_policy,
            "a new key is prepared": self.rotate_keys,
        }
        if Host.isolated:
            faults["a node is cut off for a while"] = self.cut_node
        if self.arguments.other:
            faults[UPGRADE] = self.upgrade_node
        faults |= {
            name: fault for name, fault in self.store.faults().items() if Host.isolated or "cut off" not in name}
        return list(faults.items())

    # Running

    def run(self):
        self.generator.start()
        end = time.monotonic() + self.arguments.seconds
        # A forgetful server has to have kept something, or it is empty after a restart, which nodes notice.
        time.sleep(8 if self.arguments.store.startswith("forgetful") else 2)
        turns = [(name, fault) for name, fault in self.faults() if "killed" in name and name in self.store.faults()]
        if self.arguments.other:
            # First of all every node is replaced, so that a short run has seen that.
            turns += [(UPGRADE, self.upgrade_node) for _ in self.nodes]
        while time.monotonic() < end:
            if not turns:
                turns = self.faults()
                self.chance.shuffle(turns)
            name, fault = turns.pop()
            self.say(name)
            fault()
            self.recover(name)
        self.generator.stop()

    def recover(self, name):
        """All nodes serve again without a restart."""
        start = time.monotonic()
        for node in self.nodes:
            wait(lambda: self.serves(node), f"{node.host.name} serves after this: {name}; see {node.folder}/log", 40)
        self.log.append((name, time.monotonic() - start))
        time.sleep(1)

    def serves(self, node):
        start, count = time.monotonic(), len(self.generator.events)
        if self.ready(node) is None:
            return False
        while time.monotonic() < start + 3:
            if any(
                event.kind == "assertion" and event.node == node.address and event.status in (200, 403)
                for event in self.generator.events[count:]):
                return True
            time.sleep(0.05)
        return False

    def report(self):
        events = self.generator.events
        records = [record for node in self.nodes for record in node.records()]
        found = self.found + checker.findings(events, records)
        if self.arguments.other and self.replaced < len(self.nodes):
            found.append(f"only {self.replaced} nodes were replaced by another version: give more --seconds")
        client = Client()
        door = self.nodes[self.chance.randrange(3)].address
        fresh = [body for body in self.generator.bodies if body[0] != "attestation"][-600:]
        found += checker.replayed(
            fresh, lambda path, body, token=None, *_: client.post(door, path, body, token))
        counts = collections.Counter(
            (event.kind, event.status if event.ours or not event.status else f"{event.status} of the proxy")
            for event in events)
        self.say(
            f"{len(events)} requests, {len(self.generator.devices)} devices, {len(records)} audit records, "
            f"{len(fresh)} sent again")
        for (kind, status), count in sorted(counts.items(), key=str):
            print(f"  {kind:12} {status or 'no answer':>18} {count:7}")
        for name, times in sorted(self.recoveries().items()):
            print(f"  {name}: {len(times)} times, all nodes served again within {max(times):.1f} s")
        return found

    def recoveries(self):
        times = collections.defaultdict(list)
        for name, seconds in self.log:
            times[name].append(seconds)
        return times

    def stop(self):
        for process in (self.proxy, *self.nodes):
            if process and process.process:
                process.resume()
                process.kill()
        if self.store:
            self.store.stop()
        Host.tidy()


def program(path):
    """A program that answers `--version`, by its full path."""
    path = os.path.realpath(path)
    try:
        subprocess.run([path, "--version"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        raise argparse.ArgumentTypeError(f"not a program that answers --version: {error}") from error
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long faults continue")
    parser.add_argument(
        "--store", default="postgres", choices=["postgres", "valkey", "forgetful-postgres", "forgetful-valkey"],
        help="`forgetful` ones lose what they acknowledged: the checker has to find it")
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--other", type=program,
        help="another version of the program: it takes the place of every node, one after the other, and later gives it back")
    parser.add_argument("--keep", action="store_true", help="leave the folder with logs and data")
    arguments = parser.parse_args()
    if arguments.other and os.path.samefile(arguments.other, os.environ["ASSAY"]):
        parser.error("--other is the program itself: give another version, or a copy")
    folder = tempfile.mkdtemp(prefix="assay-cluster-")
    os.chmod(folder, 0o755)
    trial = Trial(folder, arguments)
    try:
        trial.start()
        trial.run()
        found = trial.report()
    finally:
        trial.stop()
    for text in found[:40]:
        print(f"FOUND: {text}")
    if found or arguments.keep:
        print(f"{len(found)} findings; logs are in {folder}")
    else:
        shutil.rmtree(folder)
        print("nothing was found")
    if arguments.store.startswith("forgetful"):
        print("the checker found what the store lost" if found else "the checker found nothing: it cannot be relied on")
        sys.exit(0 if found else 1)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
