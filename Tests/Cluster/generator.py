"""Clients that attest, assert, consume and replay at many nodes at once, and remember what each was told."""

import base64
import http.client
import json
import random
import threading
import time

from device import Device
from server import ADMIN_TOKEN, APP, APPLE_ID, PROJECT

VERIFY = f"/v1beta/projects/{PROJECT}:verifyAppCheckToken"


def encoded(data):
    return base64.b64encode(data).decode()


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class Answer:
    """What came of one request: a status, or None when no answer came; `ours` is whether Assay itself wrote it."""

    def __init__(self, status, body, headers, start):
        self.status, self.start, self.end = status, start, time.monotonic()
        self.headers = headers
        try:
            self.json = json.loads(body) if body else None
        except ValueError:
            self.json = None
        self.ours = isinstance(self.json, dict)


class Event:
    """One request, and what its answer means."""

    def __init__(self, kind, key, node, answer, counter=None, device=None):
        self.kind, self.key, self.node, self.counter, self.device = kind, key, node, counter, device
        self.status, self.ours, self.start, self.end = answer.status, answer.ours, answer.start, answer.end
        self.retry_after = answer.headers.get("Retry-After") if answer.headers else None
        found = answer.json or {}
        self.granted = answer.status == 200 and not found.get("alreadyConsumed", False)
        self.text = "" if answer.status == 200 else json.dumps(found)[:300]


class Client:
    """Kept connections of one thread to each door."""

    def __init__(self):
        self.connections = {}

    def post(self, door, path, body, token=None):
        start = time.monotonic()
        connection = self.connections.pop(door, None) or http.client.HTTPConnection(*door, timeout=20)
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.read(), response.headers, start)
        except (OSError, http.client.HTTPException):
            connection.close()
            return Answer(None, None, None, start)
        self.connections[door] = connection
        return answer


class AttestedDevice:
    def __init__(self, device, artifact):
        self.device, self.artifact = device, artifact
        self.lock = threading.Lock()
        self.name = device.key_id


class Generator:
    """`threads` clients; `doors` are the addresses that they call: the proxy first, then the nodes."""

    def __init__(self, authority, doors, threads=12, pace=0.02):
        self.authority, self.doors, self.pace = authority, doors, pace
        self.events, self.devices, self.bodies, self.tokens = [], [], [], []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(threads)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join(60)

    def door(self, chance):
        return self.doors[0] if chance.random() < 0.5 else chance.choice(self.doors)

    def work(self, number):
        chance, client = random.Random(number), Client()
        helpers = [Client() for _ in self.doors]
        while not self.ends.is_set():
            what = chance.random()
            try:
                if what < 0.12 or not self.devices:
                    self.attest(chance, client, helpers)
                elif what < 0.60:
                    self.exchange(chance, client, helpers, limited=False)
                elif what < 0.85:
                    self.consume(chance, client, helpers)
                elif self.bodies:
                    self.send(self.door(chance), client, *chance.choice(self.bodies[-400:]))
            except KeyError:
                # A 200 without what it promises: the checker says so.
                self.events.append(Event("broken", number, None, Answer(200, b"{}", None, time.monotonic())))
            self.ends.wait(chance.random() * 2 * self.pace)

    def send(self, door, client, kind, key, path, body, token=None, counter=None, device=None):
        answer = client.post(door, path, body, token)
        self.events.append(Event(kind, key, door, answer, counter, device))
        return answer

    def race(self, chance, client, helpers, request):
        """Sends one request through several doors at once, or only through one; returns an answer that grants."""
        if chance.random() < 0.6:
            answers = [self.send(self.door(chance), client, *request)]
        else:
            answers = []
            threads = [
                threading.Thread(target=lambda d=door, c=helper: answers.append(self.send(d, c, *request)), daemon=True)
                for door, helper in zip(self.doors, helpers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return next((answer for answer in answers if answer.status == 200), None)

    def challenge(self, chance, client):
        answer = client.post(self.door(chance), f"/v1/{APP}:generateAppAttestChallenge", {})
        self.events.append(Event("challenge", None, None, answer))
        return base64.b64decode(answer.json["challenge"]) if answer.status == 200 else None

    def attest(self, chance, client, helpers):
        device = Device(self.authority, APPLE_ID)
        challenge = self.challenge(chance, client)
        if challenge is None:
            return
        body = {
            "attestationStatement": encoded(device.attest(challenge)), "challenge": encoded(challenge),
            "keyId": device.key_id}
        request = ("attestation", encoded(challenge), f"/v1/{APP}:exchangeAppAttestAttestation", body)
        answer = self.race(chance, client, helpers, request)
        if answer:
            self.devices.append(AttestedDevice(device, base64.b64decode(answer.json["artifact"])))
            self.bodies.append(request)

    def exchange(self, chance, client, helpers, limited):
        attested = chance.choice(self.devices)
        with attested.lock:
            challenge = self.challenge(chance, client)
            if challenge is None:
                return None
            assertion = attested.device.assertion(attested.artifact + challenge)
            counter = attested.device.counter
            body = {
                "artifact": encoded(attested.artifact), "assertion": encoded(assertion), "challenge": encoded(challenge),
                "limitedUse": limited}
            request = (
                "assertion", f"{attested.name}/{counter}", f"/v1/{APP}:exchangeAppAttestAssertion", body, None, counter,
                attested.name)
            answer = self.race(chance, client, helpers, request)
        if answer:
            self.bodies.append(request)
        return answer

    def consume(self, chance, client, helpers):
        answer = self.exchange(chance, client, helpers, limited=True)
        if not answer:
            return
        token = answer.json["token"]
        request = ("consumption", claims(token)["jti"], VERIFY, {"appCheckToken": token}, ADMIN_TOKEN)
        if self.race(chance, client, helpers, request):
            self.bodies.append(request)
