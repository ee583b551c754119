"""App Check tokens: good ones, by the exchange that an app makes, and ones that nobody should take."""

import base64
import hashlib
import hmac
import json
import time
import urllib.request

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from device import Device

PLACEHOLDER = "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="


def call(server, resource, verb, body=None):
    request = urllib.request.Request(
        f"{server.address}/v1/{resource}:{verb}", json.dumps(body or {}).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def attested(server, authority, resource, apple_id, limited=False):
    """A token by App Attest, of a device that was never seen before."""
    return attested_by(Device(authority, apple_id), server, resource, limited)


def attested_by(device, server, resource, limited=False):
    """A token by App Attest, of a device that shows its key for the first time."""
    challenge = call(server, resource, "generateAppAttestChallenge")["challenge"]
    statement = base64.b64encode(device.attest(base64.b64decode(challenge))).decode()
    reply = call(server, resource, "exchangeAppAttestAttestation", {
        "attestationStatement": statement, "challenge": challenge, "keyId": device.key_id, "limitedUse": limited})
    return reply["appCheckToken"]["token"]


def debug(server, resource, secret):
    return call(server, resource, "exchangeDebugToken", {"debugToken": secret})["token"]


def encoded(data):
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def part(token, index):
    text = token.split(".")[index]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


class Forger:
    """Signs what it is told, with the very key of the service where that is to be no excuse."""

    def __init__(self, server, good):
        [key] = json.loads((server.folder / "state.sqlite-keys" / "keys.json").read_text())["signing"]
        self.key = serialization.load_pem_private_key(key["pem"].encode(), None)
        self.head, self.claims = part(good, 0), part(good, 1)

    @property
    def public_pem(self):
        return self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def token(self, head=None, secret=None, key=None, **claims):
        """A token with some members changed, or left out where they are None."""
        def changed(members, changes):
            return {name: value for name, value in {**members, **changes}.items() if value is not None}

        text = f"{encoded(changed(self.head, head or {}))}.{encoded(changed(self.claims, claims))}"
        if secret is not None:
            signature = hmac.digest(secret, text.encode(), hashlib.sha256)
        else:
            signature = (key or self.key).sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{encoded(signature)}"

    def unacceptable(self, secrets=()):
        """Tokens that no one may take, by what is wrong with them."""
        good = self.token()
        altered = good.split(".")
        altered[1] = encoded({**self.claims, "jti": "another"})
        now = int(time.time())
        tokens = {
            "expired": self.token(iat=now - 7200, exp=now - 1),
            "without an end": self.token(exp=None),
            "for another project": self.token(aud=["projects/9876543210", "projects/other-project"]),
            "of another issuer": self.token(iss="https://firebaseappcheck.googleapis.com/9876543210"),
            "of another type": self.token({"typ": "oauth-client-attestation+jwt"}),
            "by another key": self.token(key=rsa.generate_private_key(65537, 2048)),
            "altered": ".".join(altered),
            "unsigned": self.token({"alg": "none"}).rsplit(".", 1)[0] + ".",
            "cut": good.rsplit(".", 1)[0],
            "a placeholder": PLACEHOLDER,
            "nonsense": "x.y.z",
            "empty": "",
            "twice in one header": f"{good}, {good}",
        }
        for index, secret in enumerate([self.public_pem, b"", *secrets]):
            tokens[f"by a shared secret {index}"] = self.token({"alg": "HS256"}, secret=secret)
        return tokens


def pem(key):
    """An RSA key of a key set in the form that programs read which know no JWK."""
    n, e = (
        int.from_bytes(base64.urlsafe_b64decode(key[name] + "=" * (-len(key[name]) % 4)), "big") for name in ["n", "e"])
    return rsa.RSAPublicNumbers(e, n).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
