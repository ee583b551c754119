"""Servers on several hosts of one machine: network namespaces that are joined by a bridge, and the processes in them."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

BRIDGE, GATEWAY = "assaybr0", "10.77.0.1"
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")


def run(*command, check=True, **options):
    return subprocess.run([str(part) for part in command], check=check, capture_output=True, text=True, **options)


def wait(condition, what, seconds=30.0):
    """Waits for something that a process does in its own time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise RuntimeError(f"not within {seconds:.0f} s: {what}")


class Host:
    """A network namespace with one address. Without the right to make one, all hosts are this machine itself."""

    isolated = True

    def __init__(self, name, number):
        self.name, self.outside = f"assay-{name}", f"assay-{name}"[:15]
        self.address = f"10.77.0.{number}" if Host.isolated else f"127.0.0.{number}"
        if not Host.isolated:
            return
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "link", "set", self.outside, "master", BRIDGE, "up")
        run("ip", "-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", self.name, "link", "set", device, "up")

    @staticmethod
    def prepare():
        Host.tidy()
        made = run("ip", "link", "add", BRIDGE, "type", "bridge", check=False)
        Host.isolated = made.returncode == 0
        if Host.isolated:
            run("ip", "addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
            run("ip", "link", "set", BRIDGE, "up")
        return Host.isolated

    @staticmethod
    def tidy():
        for line in run("ip", "netns", "list", check=False).stdout.splitlines():
            if line.startswith("assay-"):
                run("ip", "netns", "delete", line.split()[0], check=False)
        run("ip", "link", "delete", BRIDGE, check=False)

    def command(self, *command):
        inside = ["ip", "netns", "exec", self.name] if Host.isolated else []
        return inside + [str(part) for part in command]

    def cut(self):
        run("ip", "link", "set", self.outside, "down")

    def mend(self):
        run("ip", "link", "set", self.outside, "up")


class Process:
    """A process that is killed, stopped and started again, with all that it starts."""

    process = None

    def spawn(self, command, log, **options):
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options)

    def send(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def pause(self):
        self.send(signal.SIGSTOP)

    def resume(self):
        self.send(signal.SIGCONT)

    def terminate(self, seconds=30):
        self.send(signal.SIGTERM)
        self.process.wait(seconds)


class Node(Process):
    """One `assay serve`."""

    def __init__(self, host, folder, policy, state, keys, arguments=()):
        self.host, self.folder, self.state, self.keys, self.arguments = host, pathlib.Path(folder), state, keys, arguments
        (self.folder / "policies").mkdir(parents=True)
        self.policy = policy
        self.write_policy(0)
        self.address = (host.address, 8080)
        self.program = os.environ["ASSAY"]

    def write_policy(self, version):
        draft = self.folder / "policy.draft"
        draft.write_text(f"# Version {version}.\n{self.policy}")
        draft.rename(self.folder / "policies" / "policy.yaml")

    def start(self):
        rates = [part for name in ("", "-app", "-peer") for part in (f"--record-rate{name}", "100000")]
        self.spawn(
            self.host.command(
                self.program, "serve", "--policies", self.folder / "policies", "--state", self.state, "--keys", self.keys,
                "--listen", "%s:%d" % self.address, "--operations", "public", "--audit", self.folder / "audit.jsonl", *rates,
                *self.arguments),
            self.folder / "log", env=dict(os.environ, ASSAY_ADMIN_TOKEN="admin-0123456789abcdef"))

    def records(self):
        """What its audit file says, line by line; the last line may have been cut by a kill."""
        for line in (self.folder / "audit.jsonl").read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                pass


class Proxy(Process):
    """HAProxy before all nodes."""

    def __init__(self, folder, nodes):
        self.folder, self.address = pathlib.Path(folder), (GATEWAY if Host.isolated else "127.0.0.1", 8090)
        self.folder.mkdir()
        servers = "\n".join(
            "    server n%d %s:%d check inter 500ms fall 2 rise 1" % (number, *node.address)
            for number, node in enumerate(nodes))
        (self.folder / "haproxy.cfg").write_text(f"""\
global
    maxconn 1000
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 20s
    retries 0
listen assay
    bind {self.address[0]}:{self.address[1]}
    option httpchk GET /readyz
    balance roundrobin
{servers}
""")

    def start(self):
        self.spawn(["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")], self.folder / "log")


class Relay(Process):
    """What stands before a server, and repeats its replies for a while."""

    def __init__(self, host, folder, port, target):
        self.host, self.log, self.ports = host, pathlib.Path(folder) / f"{host.name}-relay.log", (port, target)

    def start(self):
        program = pathlib.Path(__file__).with_name("relay.py")
        self.spawn(self.host.command(sys.executable, program, self.host.address, *self.ports), self.log)

    def repeat(self, seconds):
        self.send(signal.SIGUSR1)
        time.sleep(seconds)
        self.send(signal.SIGUSR2)


class Postgres(Process):
    """A PostgreSQL server, first or standby."""

    def __init__(self, host, folder, name):
        self.host, self.folder, self.name = host, pathlib.Path(folder) / name, name
        self.data = self.folder / "data"
        self.folder.mkdir()
        shutil.chown(self.folder, "postgres", "postgres")

    def command(self, *command):
        return self.host.command("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command)

    def make(self):
        run(*self.command(POSTGRES / "initdb", "-D", self.data, "--auth=trust", "-U", "postgres", "--no-sync"), cwd="/")
        self.configure(synchronous="*")
        with open(self.data / "pg_hba.conf", "a") as rules:
            rules.write("host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")

    def configure(self, synchronous):
        (self.data / "postgresql.auto.conf").write_text(f"""\
listen_addresses = '*'
unix_socket_directories = '{self.folder}'
max_connections = 100
shared_buffers = 32MB
wal_receiver_timeout = 5s
wal_sender_timeout = 5s
synchronous_standby_names = '{synchronous}'
primary_conninfo = '{getattr(self, "primary", "")}'
log_checkpoints = off
""")
        shutil.chown(self.data / "postgresql.auto.conf", "postgres", "postgres")

    def follow(self, primary):
        """Becomes a standby, from a copy."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.primary = f"host={primary.host.address} user=postgres application_name={self.name}"
        run(*self.command(
            POSTGRES / "pg_basebackup", "-D", self.data, "-h", primary.host.address, "-U", "postgres", "--no-sync",
            "--checkpoint=fast"), cwd="/")
        self.configure(synchronous="")
        (self.data / "standby.signal").touch()
        shutil.chown(self.data / "standby.signal", "postgres", "postgres")

    def start(self):
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.spawn(self.command(POSTGRES / "postgres", "-D", self.data), self.folder / "log", cwd="/")
        wait(lambda: self.ask("SELECT 1") == "1", f"{self.name} answers")

    def ask(self, statement):
        found = run(
            *self.command("psql", "-h", self.folder, "-U", "postgres", "-Atqc", statement), check=False, cwd="/")
        return found.stdout.strip() if found.returncode == 0 else None

    def send(self, number):
        # Each of its processes has a session of its own.
        children = run("pgrep", "-P", str(self.server), check=False).stdout.split() if self.server else []
        for process in [self.server, *map(int, children)]:
            try:
                os.kill(process, number)
            except (ProcessLookupError, TypeError):
                pass

    @property
    def server(self):
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def terminate(self, seconds=30):
        os.kill(self.server, signal.SIGINT)
        self.process.wait(seconds)

    def promote(self):
        run(*self.command(POSTGRES / "pg_ctl", "promote", "-D", self.data, "-w", "-t", "30"), cwd="/")

    def require_standby(self, standby):
        """From now on nothing is acknowledged that the standby has not written."""
        self.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.ask("SELECT pg_reload_conf()")
        wait(lambda: "sync" in (self.ask("SELECT sync_state FROM pg_stat_replication") or ""), f"{standby.name} follows")
