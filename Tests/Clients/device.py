"""A simulated Apple device and its certificate authority, made with other libraries than Assay's own.

The forms are those of Apple's "Validating apps that connect to your server" and of WebAuthn, section 6.
"""

import base64
import datetime
import hashlib
import struct

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NONCE = x509.ObjectIdentifier("1.2.840.113635.100.8.2")
PRODUCTION = b"appattest" + bytes(7)


def _name(common_name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _certificate(subject, key, issuer, issuer_key, digest, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, digest)


def _key_usage(*, signs_certificates):
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


class Authority:
    """Stands in for Apple's App Attest root and its intermediate."""

    def __init__(self):
        self.root_key = ec.generate_private_key(ec.SECP384R1())
        self.key = ec.generate_private_key(ec.SECP384R1())
        usage = (_key_usage(signs_certificates=True), True)
        self.root = _certificate(
            "Simulated Root", self.root_key, "Simulated Root", self.root_key, hashes.SHA384(),
            [(x509.BasicConstraints(ca=True, path_length=None), True), usage],
        )
        self.intermediate = _certificate(
            "Simulated CA 1", self.key, "Simulated Root", self.root_key, hashes.SHA384(),
            [(x509.BasicConstraints(ca=True, path_length=0), True), usage],
        )

    @property
    def root_pem(self):
        return self.root.public_bytes(serialization.Encoding.PEM).decode()

    def leaf(self, key, nonce):
        value = bytes([0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]) + nonce
        return _certificate(
            "device", key, "Simulated CA 1", self.key, hashes.SHA256(),
            [
                (x509.BasicConstraints(ca=False, path_length=None), True),
                (_key_usage(signs_certificates=False), True),
                (x509.UnrecognizedExtension(NONCE, value), False),
            ],
        )


class Device:
    """One attested key of one app, as an App Attest client uses it."""

    def __init__(self, authority, app_id):
        self.authority = authority
        self.app_hash = hashlib.sha256(app_id.encode()).digest()
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.x, self.y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        self.identifier = hashlib.sha256(b"\x04" + self.x + self.y).digest()
        self.counter = 0

    @property
    def key_id(self):
        return base64.b64encode(self.identifier).decode()

    def attest(self, challenge):
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: self.x, -3: self.y})
        data = self.app_hash + b"\x40" + struct.pack(">I", 0) + PRODUCTION
        data += struct.pack(">H", 32) + self.identifier + cose
        nonce = hashlib.sha256(data + hashlib.sha256(challenge).digest()).digest()
        chain = [self.authority.leaf(self.key, nonce), self.authority.intermediate]
        statement = {
            "x5c": [certificate.public_bytes(serialization.Encoding.DER) for certificate in chain],
            "receipt": b"no receipt",
        }
        return cbor2.dumps({"fmt": "apple-appattest", "attStmt": statement, "authData": data})

    def assertion(self, client_data):
        self.counter += 1
        data = self.app_hash + b"\x40" + struct.pack(">I", self.counter)
        nonce = hashlib.sha256(data + hashlib.sha256(client_data).digest()).digest()
        signature = self.key.sign(nonce, ec.ECDSA(hashes.SHA256()))
        return cbor2.dumps({"signature": signature, "authenticatorData": data})
