"""An App Check service and a backend for `main.swift`; prints its port."""

import base64
import http.server
import json

tokens = 0


def jwt(number):
    claims = {"sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890"], "iat": 1, "exp": 3601, "jti": number}
    return "e30." + base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=") + ".c2ln"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        global tokens
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        token = self.headers.get("x-firebase-appcheck")
        if self.path.startswith("/v1/"):
            tokens += 1
            return self.reply(200, {"token": jwt(tokens), "ttl": "3600s"})
        if self.path == "/limited" and token == jwt(2):
            return self.reply(401, {}, ("WWW-Authenticate", 'AppCheck realm="a", error="invalid_token"'))
        if self.path == "/moved":
            return self.reply(302, {}, ("Location", "/orders"))
        if self.path == "/elsewhere":
            return self.reply(302, {}, ("Location", "https://evil.example.com/"))
        if self.path == "/cookie":
            return self.reply(200, {"cookie": self.headers.get("cookie")}, ("Set-Cookie", "a=b"))
        self.reply(201, {
            "method": self.command, "path": self.path, "body": body.decode(), "token": token, "own": self.headers.get("x-own")},
            ("X-Reply", "one"))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def reply(self, status, value, *headers):
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in [*headers, ("Content-Length", str(len(data)))]:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
