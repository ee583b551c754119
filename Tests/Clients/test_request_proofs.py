"""Proofs of single requests by a device that is not Assay's own, judged by `/verify` as a proxy asks it."""

import base64
import hashlib
import json
import pathlib
import time
import urllib.error
import urllib.request

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

import proofs
import tokens
from device import Device
from server import APP, APPLE_ID, POLICY, Server

VECTORS = pathlib.Path(__file__).parent.parent / "AssayRequestProofTests/Vectors/request-proofs.json"
HOST = "api.example.com"
PROVEN = POLICY.replace("            trust_anchor: ANCHOR\n", "            trust_anchor: ANCHOR\n            key_in_tokens: true\n") + """\
    consumers:
      custom_backend:
        backends:
          orders:
            original_request: x-original
            request_proof: {authorities: [api.example.com]}
            routes:
              - {path: /catalog/**, tokens: {}, request_proof: false}
"""


@pytest.fixture(scope="module")
def proven(authority, apple, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("proven"), authority, apple, PROVEN)
    server.start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def phone(proven, authority):
    device = Device(authority, APPLE_ID)
    token = tokens.attested_by(device, proven, APP)
    # The state begins with the first request. What was made in its first seconds may have been used before.
    time.sleep(6.1)
    return device, token


def ask(server, method, target, headers):
    request = urllib.request.Request(
        f"{server.address}/verify/orders",
        headers={**headers, "X-Original-Method": method, "X-Original-URI": target})
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def made(phone, method="POST", target="/payments?id=7", content=b'{"sum":1}', host=HOST, age=0):
    device, token = phone
    fields = proofs.proof(device, method, host, target, content, int(time.time()) - age)
    return {**fields, "X-Firebase-AppCheck": token}


def test_token_names_the_key(phone):
    device, token = phone
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    x, y = (base64.urlsafe_b64decode(claims["cnf"]["jwk"][name] + "=") for name in "xy")
    assert (x, y) == (device.x, device.y)
    assert base64.urlsafe_b64decode(claims["cnf"]["rp_id_hash"] + "=") == hashlib.sha256(APPLE_ID.encode()).digest()


def test_once(proven, phone):
    headers = made(phone)
    assert ask(proven, "POST", "/payments?id=7", headers) == 204
    assert ask(proven, "POST", "/payments?id=7", headers) == 403
    # In any order: a proof that was made earlier may arrive later.
    first, second = made(phone), made(phone)
    assert ask(proven, "POST", "/payments?id=7", second) == 204
    assert ask(proven, "POST", "/payments?id=7", first) == 204


def test_another_request(proven, phone):
    assert ask(proven, "PUT", "/payments?id=7", made(phone)) == 403
    assert ask(proven, "POST", "/payments?id=8", made(phone)) == 403
    assert ask(proven, "POST", "/payments", made(phone)) == 403
    assert ask(proven, "POST", "/payments?id=7", made(phone, host="other.example.com")) == 403
    assert ask(proven, "POST", "/payments?id=7", made(phone, age=90)) == 403
    assert ask(proven, "POST", "/payments?id=7", made(phone, age=-60)) == 403
    other = {**made(phone), "Content-Digest": proofs.content_digest(b'{"sum":2}')}
    assert ask(proven, "POST", "/payments?id=7", other) == 403


def test_another_device(proven, phone, authority):
    thief = (Device(authority, APPLE_ID), phone[1])
    assert ask(proven, "POST", "/payments?id=7", made(thief)) == 403
    other_app = (Device(authority, "ABCDE12345.com.example.other"), phone[1])
    assert ask(proven, "POST", "/payments?id=7", made(other_app)) == 403


@pytest.mark.parametrize("missing", ["Content-Digest", "Signature-Input", "Signature"])
def test_missing(proven, phone, missing):
    headers = made(phone)
    del headers[missing]
    assert ask(proven, "POST", "/payments?id=7", headers) == 403


def test_where_none_is_needed(proven, phone):
    assert ask(proven, "GET", "/catalog/1", {"X-Firebase-AppCheck": phone[1]}) == 204
    assert ask(proven, "GET", "/orders/1", {"X-Firebase-AppCheck": phone[1]}) == 403


def test_vectors():
    vectors = json.loads(VECTORS.read_text())
    assert vectors["proofs"]
    for vector in vectors["proofs"]:
        digest = proofs.content_digest(vector["content"].encode())
        base = proofs.signature_base(
            vector["method"], vector["authority"], vector["target"], digest, vector["created"])
        assert (digest, base) == (vector["headers"]["Content-Digest"], vector["signature_base"])
        member = vector["headers"]["Signature"].removeprefix("appcheck=:").removesuffix(":")
        assertion = cbor2.loads(base64.b64decode(member))
        data = assertion["authenticatorData"]
        nonce = hashlib.sha256(data + hashlib.sha256(base.encode()).digest()).digest()
        key = vectors["cnf"]["jwk"]
        x, y = (int.from_bytes(base64.urlsafe_b64decode(key[name] + "="), "big") for name in "xy")
        public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        public.verify(assertion["signature"], nonce, ec.ECDSA(hashes.SHA256()))
