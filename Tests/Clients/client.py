"""App Check tokens in a Python service, by the rules of the article *Write a client*.

    check = AppCheck("projects/PROJECT/apps/APP_ID", "https://assay.example.com", debug_token("6B4E1D0C-…"))
    response = ProtectedSession(check).request("GET", "https://api.example.com/orders")
"""

import base64
import concurrent.futures
import dataclasses
import email.utils
import http.client
import json
import random
import re
import socket
import threading
import time
import urllib.parse

import requests

MARGIN, REFRESH_DELAY, REFRESH_DISTANCE = 300, 300, 60
REQUEST_LIMIT, LONGEST_PAUSE, LONGEST_RETRY, LONGEST_LIFE = 30, 3600, 960, 7 * 86400
REPLY_LIMIT, TOKEN_LIMIT, MESSAGE_LIMIT = 65536, 16384, 300
HEADER = "X-Firebase-AppCheck"


def uptime():
    """Seconds by a clock that nobody sets, and that continues while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclasses.dataclass(frozen=True)
class Token:
    text: str = dataclasses.field(repr=False)
    requested: float
    expires: float


class AppCheckError(Exception):
    """Compare `code`. `decision` is what an operator finds the reason by; `retry_after` are seconds without requests."""

    def __init__(self, code, message, decision=None, status=None, retry_after=None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.decision, self.status, self.retry_after = code, message, decision, status, retry_after


def post(url, body, limit=REQUEST_LIMIT):
    """Sends JSON, and returns (status, header, body): no redirect, no proxy, no cookie, and no endless answer."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=limit)
    end = time.monotonic() + limit
    # The limit of the socket begins again with each byte.
    watchdog = threading.Timer(limit, lambda: connection.sock and socket.socket.shutdown(connection.sock, socket.SHUT_RDWR))
    watchdog.start()
    try:
        connection.request("POST", parts.path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read(REPLY_LIMIT + 1)
    finally:
        watchdog.cancel()
        connection.close()
    if time.monotonic() >= end:
        raise TimeoutError("the whole reply took too long")
    if len(content) > REPLY_LIMIT:
        raise AppCheckError("malformed_reply", "The reply is too long.", status=response.status)
    return response.status, response.headers, content


def debug_token(secret):
    """A provider for development: a debug token that the operator registers."""
    return lambda check, limited_use: check.call("exchangeDebugToken", {"debugToken": secret, "limitedUse": limited_use})


class AppCheck:
    """The tokens of one app. A provider is a function of this object and `limited_use`, which returns `token` and `ttl`."""

    def __init__(self, app, endpoint, provider, send=post, now=uptime, jitter=random.random):
        if not re.fullmatch(r"(projects/[^/?#\s]+/apps|oauthClients)/[^/?#\s]+", app):
            raise AppCheckError("invalid_configuration", "`app` is no resource name.")
        check_transport(endpoint)
        self.app, self.endpoint, self.provider = app, endpoint.rstrip("/").removesuffix("/v1"), provider
        self.send, self.now, self.jitter = send, now, jitter
        self.lock, self.exchange = threading.Lock(), threading.Lock()
        self.kept = self.flight = self.failure = None
        self.failures, self.paused_until, self.retry_at, self.last_start = 0, 0.0, 0.0, float("-inf")

    # Tokens

    def token(self, force=False):
        """A token with more than five minutes left. Callers at the same time share one exchange."""
        with self.lock:
            if self.kept and not force and self.now() < self.kept.expires - MARGIN:
                return self.kept
            flight, leads = self.flight, self.flight is None
            if leads:
                self.raise_if_paused()
                flight = self.flight = concurrent.futures.Future()
        if leads:
            try:
                flight.set_result(self.fetch(limited_use=False))
            except BaseException as error:
                flight.set_exception(error)
            finally:
                with self.lock:
                    self.flight = None
        return flight.result()

    def limited_use_token(self):
        """A token for one request. It is never kept, and never given twice."""
        with self.lock:
            self.raise_if_paused()
        return self.fetch(limited_use=True)

    def token_after(self, refused):
        """A newer token than one that a backend refused; None if that one is younger than a minute."""
        token = self.token()
        if token.text != refused.text:
            return token
        return None if self.now() - refused.requested < 60 else self.token(force=True)

    def refresh_if_due(self):
        """Renews the token at half of its life and five minutes; returns the seconds until it is due again."""
        now, due = self.now(), self.due()
        if now < due:
            return due - now
        try:
            self.token(force=True)
        except AppCheckError:
            pass
        return max(self.due() - self.now(), 1)

    def keep_fresh(self, stop):
        """For a thread of its own, until the event `stop` is set."""
        while not stop.wait(self.refresh_if_due()):
            pass

    # Methods of the server

    def call(self, method, body):
        """Calls a method for the app, and returns its reply with the time before the request."""
        start = self.now()
        try:
            status, header, content = self.send(f"{self.endpoint}/v1/{self.app}:{method}", body)
        except (http.client.HTTPException, OSError) as error:
            raise AppCheckError("unreachable", f"There was no whole reply: {type(error).__name__}.") from error
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):
            reply = None
        if not 200 <= status < 300:
            raise failure(status, header, reply)
        if not isinstance(reply, dict):
            raise AppCheckError("malformed_reply", "The reply is no JSON object.", status=status)
        return {**reply, "requested": start}

    # The rules

    def fetch(self, limited_use):
        # One after the other: a device's counter must rise from one assertion to the next.
        with self.exchange:
            with self.lock:
                self.raise_if_paused()
                start = self.now()
                if not limited_use:
                    self.last_start = start
            try:
                token = self.checked(self.provider(self, limited_use), start)
            except Exception as cause:
                own = isinstance(cause, AppCheckError)
                error = cause if own else AppCheckError("provider_failed", f"The provider failed: {type(cause).__name__}.")
                self.failed(error)
                raise error from (cause.__cause__ if own else cause)
            with self.lock:
                self.failures, self.paused_until, self.retry_at = 0, 0.0, 0.0
                if not limited_use:
                    self.kept = token
            return token

    def checked(self, reply, start):
        text, ttl = reply.get("token"), reply.get("ttl")
        claims = claims_of(text)
        seconds = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", ttl, re.ASCII) if isinstance(ttl, str) else None
        if claims is None or seconds is None:
            raise AppCheckError("malformed_reply", "The reply has no token, or no lifetime.")
        project, app_id = self.app.split("/")[1], self.app.split("/")[-1]
        audience = claims.get("aud") if isinstance(claims.get("aud"), list) else [claims.get("aud")]
        if claims.get("sub") != app_id or self.app.startswith("projects/") and f"projects/{project}" not in audience:
            raise AppCheckError("foreign_token", "The token is of another app or project. It is not used.")
        life = float(seconds[1])
        if type(claims.get("iat")) is int and type(claims.get("exp")) is int:
            life = min(life, claims["exp"] - claims["iat"])
        if not 0 < life <= LONGEST_LIFE:
            raise AppCheckError("malformed_reply", "The lifetime is not between 0 s and 7 days.")
        requested = min(reply.get("requested", start), self.now())
        if self.now() >= requested + life:
            raise AppCheckError("expired_on_arrival", "The token had ended when it arrived.")
        return Token(text, requested, requested + life)

    def failed(self, error):
        with self.lock:
            self.failures = min(self.failures + 1, 20)
            self.retry_at = self.now() + min(REFRESH_DISTANCE * 2 ** (self.failures - 1), LONGEST_RETRY)
            if error.code in ("unreachable", "expired_on_arrival", "provider_failed"):
                # No server has refused anything: the next caller may try.
                self.paused_until = 0.0
                return
            if error.retry_after is not None:
                pause = min(max(error.retry_after, 1), LONGEST_PAUSE)
                pause += min(pause, 60) * self.jitter() / 2
            else:
                pause = min(min(2 ** self.failures, LONGEST_PAUSE) * (1 + self.jitter() / 2), LONGEST_PAUSE)
            error.retry_after, self.paused_until, self.failure = pause, self.now() + pause, error

    def raise_if_paused(self):
        left = self.paused_until - self.now()
        if left > 0:
            last = self.failure
            raise AppCheckError(last.code, last.message, last.decision, last.status, retry_after=left)

    def due(self):
        earliest = max(self.retry_at, self.paused_until, self.last_start + REFRESH_DISTANCE)
        if self.kept is None:
            return earliest
        half = self.kept.requested + (self.kept.expires - self.kept.requested) / 2 + REFRESH_DELAY
        return max(min(half, self.kept.expires - MARGIN), earliest)


class ProtectedSession:
    """Sends requests with a token, once more after a refused token, and never where others can read it."""

    def __init__(self, check, limited_use=False):
        self.check, self.limited_use, self.session = check, limited_use, requests.Session()
        # No proxy of the environment: it would read what goes to this machine without TLS.
        self.session.trust_env = False

    def request(self, method, url, headers=None, **options):
        check_transport(url)
        take = self.check.limited_use_token if self.limited_use else self.check.token
        token = take()
        response = self.send(method, url, token, headers, options)
        if response.status_code == 401 and refuses_token(response.headers.get("WWW-Authenticate", "")):
            fresh = take() if self.limited_use else self.check.token_after(token)
            # A body that was read from a stream is gone.
            if fresh and not hasattr(options.get("data"), "__next__") and not hasattr(options.get("data"), "read"):
                response.close()
                response = self.send(method, url, fresh, headers, options)
        return response

    def send(self, method, url, token, headers, options):
        if token.text in urllib.parse.unquote(requests.Request(method, url, params=options.get("params")).prepare().url):
            raise AppCheckError("insecure", "The token is in the URL. Leave it to the header.")
        headers = {name: value for name, value in (headers or {}).items() if name.lower() != HEADER.lower()}
        # A redirect is the caller's to follow: it may lead to another server.
        return self.session.request(
            method, url, headers={**headers, HEADER: token.text}, **{"timeout": REQUEST_LIMIT, **options, "allow_redirects": False})


def check_transport(url):
    parts = urllib.parse.urlsplit(url)
    loopback = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if "@" in parts.netloc or parts.fragment or not (parts.scheme == "https" or parts.scheme == "http" and loopback):
        raise AppCheckError("insecure", "Only https, or http to this machine, and no user or fragment in the URL.")


def refuses_token(challenge):
    return challenge.lower().startswith("appcheck ") and 'error="invalid_token"' in challenge.lower()


def claims_of(token):
    """What a token says of itself; its signature is for those who receive it."""
    if not isinstance(token, str) or len(token) > TOKEN_LIMIT or not re.fullmatch(r"[\w-]+(\.[\w-]+){2}", token, re.ASCII):
        return None
    payload = token.split(".")[1]
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


def failure(status, header, reply):
    """What a status means. The words of the server are shortened, and move no cursor."""
    error = reply.get("error") if isinstance(reply, dict) else None
    error = error if isinstance(error, dict) else {}
    said = "".join(c if c.isprintable() else "?" for c in str(error.get("message", ""))[:MESSAGE_LIMIT])
    decision = header.get("x-assay-decision", "")
    code = {401: "rejected", 403: "refused", 404: "not_configured", 408: "unavailable", 425: "unavailable", 429: "throttled"}.get(status)
    if status == 400:
        code = "not_configured" if error.get("status") == "FAILED_PRECONDITION" else "rejected"
    return AppCheckError(
        code or {3: "redirected", 4: "rejected", 5: "unavailable"}.get(status // 100, "malformed_reply"),
        f"The server answers {status}. {said}",
        decision=decision if re.fullmatch(r"[!-~]{1,128}", decision) else None, status=status,
        retry_after=wait_of(header) if status in (429, 503) else None)


def wait_of(header):
    """The seconds of Retry-After, or until its date by the server's own clock; None without any."""
    text = header.get("retry-after", "")
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        return int(text)
    try:
        then, now = (email.utils.parsedate_to_datetime(header.get(name, "")) for name in ("retry-after", "date"))
        return max((then - now).total_seconds(), 1)
    except (TypeError, ValueError, OverflowError):
        return None
