"""A site with the module and pages for it, and a server that answers as a test says."""

import base64
import http.server
import itertools
import json
import pathlib
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).parent
MODULE = HERE.parents[2] / "Sources/Clients/JavaScript"
TYPES = {".js": "text/javascript", ".html": "text/html; charset=utf-8", ".css": "text/css", ".json": "application/json"}
APP = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
numbers = itertools.count(1)


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(seconds):
    claims = {
        "sub": APP.split("/")[-1], "aud": ["projects/1234567890", "projects/example-project"], "iat": 1000, "exp": 1000 + seconds,
        "jti": next(numbers)}
    return f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.c2lnbmF0dXJl"


class Threaded(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # Connections that wait when all tests begin.
    request_queue_size = 256

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that has heard enough."""


class Siteverify(http.server.BaseHTTPRequestHandler):
    """What the services of Turnstile, hCaptcha and reCAPTCHA say of a token: `human` and `robot` are genuine."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        [kind] = form["response"][0].split("-")[:1]
        scores = {"human": 0.9, "robot": 0.1}
        reply = {"success": False, "error-codes": ["invalid-input-response"]}
        if kind in scores:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            reply = {"success": True, "challenge_ts": now, "hostname": "www.example.com", "action": "fire_app_check"}
            if "recaptcha" in self.path:
                reply["score"] = scores[kind]
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Site(Threaded):
    """The pages. Their policy forbids everything but files of the site and connections to the servers of the test."""

    def __init__(self):
        self.servers = []
        super().__init__(Pages)

    def policy(self, is_sandboxed):
        return (
            f"default-src 'none'; script-src {self.address}; worker-src {self.address}; style-src {self.address}; connect-src {' '.join([self.address, *self.servers])}; "
            + ("sandbox allow-scripts; " if is_sandboxed else "") + "base-uri *; require-trusted-types-for 'script'; trusted-types tests")


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two packets, and the second one would wait for an answer to the first.
    disable_nagle_algorithm = True

    def do_GET(self):
        name, _, query = self.path.partition("?")
        folder = MODULE if name in ("/app-check.js", "/package.json") or name.startswith("/example/") else HERE
        path = folder / name.lstrip("/")
        isFound = path.suffix in TYPES and path.is_file() and ".." not in name
        body = path.read_bytes() if isFound else b""
        self.send_response(200 if isFound else 404)
        self.send_header("Content-Type", TYPES.get(path.suffix, "text/plain"))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self.server.policy(query == "sandbox"))
        # For scripts of a page in a sandbox, whose origin is none.
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Scripted(Threaded):
    """`POST /scripts` with a list of replies gives a number; what is below `/s/NUMBER` is answered by them, and by the last one for ever."""

    def __init__(self):
        self.scripts = {}
        super().__init__(Replies)


class Replies(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # The headers that `assay serve` opens to scripts, and one by which a backend says what it refuses.
    EXPOSED = "etag, retry-after, x-assay-decision, www-authenticate"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = self.path.split("/")
        if self.command == "OPTIONS":
            self.reply(204, {"Access-Control-Allow-Headers": "content-type, x-firebase-appcheck", "Access-Control-Allow-Methods": "*"}, b"")
        elif self.path == "/scripts":
            number = str(next(numbers))
            self.server.scripts[number] = {"replies": json.loads(body), "calls": []}
            self.reply(200, {}, json.dumps(number).encode())
        elif parts[1] == "scripts":
            self.reply(200, {}, json.dumps(self.server.scripts[parts[2]]["calls"]).encode())
        else:
            script = self.server.scripts[parts[2]]
            count = len(script["calls"])
            script["calls"].append({
                "method": self.command, "target": "/" + "/".join(parts[3:]), "body": body.decode(), "headers": {
                    name.lower(): value for name, value in self.headers.items()}})
            self.play(script["replies"][min(count, len(script["replies"]) - 1)])

    do_GET = do_POST = do_PUT = do_OPTIONS = answer

    def play(self, reply):
        if "token" in reply:
            content = {"token": jwt(reply["token"]), "ttl": f"{reply['token']}s"}
            return self.reply(200, reply.get("headers", {}), json.dumps(content).encode())
        if "way" not in reply:
            return self.reply(reply.get("status", 200), reply.get("headers", {}), reply.get("body", "{}").encode())
        self.close_connection = True
        start = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\n"
        if reply["way"] == "cut":
            return self.wfile.write(f"{start}Content-Length: 9000\r\n\r\n{{".encode())
        if reply["way"] == "hang":
            start = ""
        elif reply["way"] in ("drip", "flood"):
            start += "\r\n"
        part = {"drip": b"a", "flood": b"a" * 65536, "headers": b"X-A: b\r\n", "hang": b""}[reply["way"]]
        self.wfile.write(start.encode())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.wfile.write(part)
            self.wfile.flush()
            if reply["way"] != "flood":
                time.sleep(0.05)
        return None

    def reply(self, status, headers, body):
        self.send_response_only(status)
        for name, value in {
            "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": self.EXPOSED, "Content-Type": "application/json",
            "Content-Length": str(len(body)), "Cache-Control": "no-store", **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
