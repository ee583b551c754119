"""Certificates of simulated Android devices, made with another library than Assay's own.

They are as a factory puts them into a device: a root, a maker's certificate, and that of the device, which certifies keys.
"""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def _name(serial, title=None):
    attributes = [x509.NameAttribute(NameOID.SERIAL_NUMBER, serial)]
    if title:
        attributes.append(x509.NameAttribute(NameOID.TITLE, title))
    return x509.Name(attributes)


def _usage(*, signs_certificates):
    return x509.KeyUsage(
        digital_signature=not signs_certificates, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs_certificates, crl_sign=signs_certificates, encipher_only=False, decipher_only=False)


def _certificate(subject, key, issuer, issuer_key, digest, is_authority):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=400))
        .not_valid_after(now + datetime.timedelta(days=400)).add_extension(_usage(signs_certificates=is_authority), True))
    if is_authority:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    return builder.sign(issuer_key, digest)


class Maker:
    """Writes what a device has into a folder: `attester.der`, the key in PKCS #8, and `chain.pem`."""

    def __init__(self, folder):
        folder.mkdir()
        root_key, key = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
        device_key = ec.generate_private_key(ec.SECP256R1())
        root_name, name, device = _name("f92009e853b6b0ff"), _name("00aabbccddeeff11", "TEE"), _name("4a00000000000001", "TEE")
        root = _certificate(root_name, root_key, root_name, root_key, hashes.SHA384(), True)
        maker = _certificate(name, key, root_name, root_key, hashes.SHA384(), True)
        attester = _certificate(device, device_key, name, key, hashes.SHA256(), False)
        pem = [one.public_bytes(serialization.Encoding.PEM) for one in (attester, maker, root)]
        (folder / "chain.pem").write_bytes(b"".join(pem))
        (folder / "attester.der").write_bytes(device_key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.folder, self.root_pem = folder, pem[-1].decode()
