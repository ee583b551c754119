"""Proxies that others wrote, each in front of a backend that says what reached it."""

import collections
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import threading
import time

SNIPPETS = pathlib.Path(__file__).parent / "proxies"

# Where the ready configurations say that everything is.
PUBLIC, ASSAY, BACKEND, QUESTION = "127.0.0.1:8000", "127.0.0.1:8080", "127.0.0.1:9000", "/verify/orders"
CHECK = "127.0.0.1:9191"
KEY_FILE = "/etc/haproxy/assay.pem"

Answer = collections.namedtuple("Answer", "status headers body")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Proxies drop connections that they keep when they end."""


class Backend:
    """Answers every request with what it got, and remembers it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.chunks() if self.headers["transfer-encoding"] else self.rfile.read(
                int(self.headers["content-length"] or 0))
            seen = {
                "method": self.command, "path": self.path, "headers": self.headers.items(), "length": len(body),
                "digest": hashlib.sha256(body).hexdigest(),
            }
            self.server.seen.append(seen)
            reply = json.dumps(seen).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer

        def chunks(self):
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, *_):
            pass

    def __init__(self):
        self.server = QuietServer(("127.0.0.1", 0), self.Handler)
        self.server.seen = []
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def seen(self):
        return self.server.seen

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Proxy:
    """A program with a ready configuration, in the foreground and without privileges."""

    program = None
    configuration = None
    # Whether a request to change the protocol goes to the backend, which may decline it.
    forwards_upgrades = True
    # How many bytes of headers are too many for the proxy, or for its question.
    too_many_bytes = 18_000

    def __init__(self, assay, backend, question=QUESTION, key=b"", changes=None):
        self.backend = backend
        self.question = question
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        # The program may belong to another user, who cannot enter pytest's folders.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.program}-"))
        text = (SNIPPETS / self.configuration).read_text()
        self.key_file = self.folder / "assay.pem"
        self.key_file.write_bytes(key)
        places = self.places(assay) | {
            PUBLIC: self.address, ASSAY: assay, BACKEND: backend.address, QUESTION: question,
            KEY_FILE: str(self.key_file)}
        for old, new in places.items():
            text = text.replace(old, new)
        for old, new in (changes or {}).items():
            assert old in text
            text = text.replace(old, new)
        (self.folder / self.configuration).write_text(self.whole(text))
        user = {}
        if os.geteuid() == 0 and all(folder.stat().st_mode & 1 for folder in pathlib.Path(self.path()).parents):
            nobody = pwd.getpwnam("nobody")
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            for path in [self.folder, *self.folder.iterdir()]:
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [self.path(), *self.arguments()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, env=environment, **user)
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def path(cls):
        """Where the program is; None where it is not installed. Few users have the folder of daemons in their path."""
        return shutil.which(cls.program, path=f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin")

    def whole(self, snippet):
        return snippet

    def places(self, assay):
        """Further texts of the ready configuration, and what takes their place."""
        return {}

    def wait(self):
        end = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{self.program} did not start: {(self.folder / 'log').read_text()}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)

    def ask(self, method="GET", path="/", headers=(), body=None, connection=None):
        return ask(self.address, method, path, headers, body, connection)


class Nginx(Proxy):
    program = "nginx"
    configuration = "nginx.conf"

    def whole(self, snippet):
        folders = "\n".join(
            f"{name}_temp_path {self.folder}/{name};"
            for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        return (
            f"worker_processes 1;\npid {self.folder}/pid;\nevents {{}}\n"
            f"http {{\naccess_log off;\nclient_max_body_size 16m;\n{folders}\n{snippet}\n}}\n")

    def arguments(self):
        return ["-p", self.folder, "-c", self.folder / self.configuration, "-e", "stderr", "-g", "daemon off;"]


class Caddy(Proxy):
    program = "caddy"
    configuration = "Caddyfile"

    def whole(self, snippet):
        return "{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n" + snippet

    def arguments(self):
        return ["run", "--adapter", "caddyfile", "--config", self.folder / self.configuration]


class HAProxy(Proxy):
    program = "haproxy"
    configuration = "haproxy.cfg"

    def whole(self, snippet):
        return "defaults\n    timeout connect 5s\n    timeout client 30s\n    timeout server 30s\n" + snippet

    def arguments(self):
        return ["-db", "-f", self.folder / self.configuration]


class Traefik(Proxy):
    program = "traefik"
    configuration = "traefik-dynamic.yaml"

    @classmethod
    def path(cls):
        return shutil.which(cls.program, path=sysconfig.get_path("scripts"))

    def arguments(self):
        return [f"--entryPoints.web.address={self.address}",
                f"--providers.file.filename={self.folder / self.configuration}", "--global.checkNewVersion=false"]

    def wait(self):
        """It listens before it has routes."""
        super().wait()
        end = time.monotonic() + 30
        while self.ask().status == 404:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.program} has no route: {(self.folder / 'log').read_text()}")
            time.sleep(0.05)


class Envoy(Proxy):
    """Envoy, which asks over HTTP."""

    program = "envoy"
    configuration = "envoy-http.yaml"
    forwards_upgrades = False
    too_many_bytes = 72_000

    @classmethod
    def path(cls):
        # The module `envoy` of these tests hides that of the wheel.
        return shutil.which(pathlib.Path(sysconfig.get_path("purelib")) / "envoy" / "_bin" / "envoy")

    def places(self, assay):
        def spelled(address):
            host, port = address.rsplit(":", 1)
            return f"{{address: {host}, port_value: {port}}}"

        return {spelled(old): spelled(new) for old, new in [
            (PUBLIC, self.address), (ASSAY, assay), (CHECK, assay), (BACKEND, self.backend.address)]}

    def arguments(self):
        return ["-c", self.folder / self.configuration, "--log-level", "warning", "--disable-hot-restart",
                "--concurrency", "2"]


class EnvoyOverGRPC(Envoy):
    """Envoy, which asks over gRPC: `assay` is the address of that listener, and `question` a backend's name."""

    configuration = "envoy-grpc.yaml"

    def places(self, assay):
        return super().places(assay) | {"{backend: orders}": f"{{backend: {self.question}}}"}


class EnvoyAlone(Envoy):
    """Envoy, which verifies tokens itself and asks nobody."""

    configuration = "envoy-jwt.yaml"


def ask(address, method="GET", path="/", headers=(), body=None, connection=None):
    """Sends a request as it is said here, letter by letter; a body that is a list goes out in chunks."""
    connection = connection or http.client.HTTPConnection(address, timeout=60)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    chunked = isinstance(body, list)
    if chunked:
        connection.putheader("Transfer-Encoding", "chunked")
    elif body is not None:
        connection.putheader("Content-Length", str(len(body)))
    try:
        connection.endheaders(body, encode_chunked=chunked)
    except (BrokenPipeError, ConnectionResetError):
        # Refused before the end of the body.
        pass
    reply = connection.getresponse()
    try:
        data = reply.read()
    except ConnectionResetError:
        # It ends with the connection, which is reset where the request's body was not read.
        data = b""
    return Answer(reply.status, reply.headers, data)
