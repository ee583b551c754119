"""Certificate authorities, and certificates of servers and clients."""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


class Issuer:
    def __init__(self, text):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = name(text)
        self.pem = pem(self._certificate(self._name, self._key.public_key(), [(x509.BasicConstraints(True, 0), True)]))

    def issue(self, text, server=False):
        """A certificate and its key in PEM form, for a server or for a client only."""
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        certificate = self._certificate(
            name(text), key.public_key(),
            [(x509.SubjectAlternativeName([x509.DNSName(text)]), False), (x509.ExtendedKeyUsage([usage]), False)])
        return pem(certificate), key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def _certificate(self, subject, key, extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1)))
        for extension, is_critical in extensions:
            builder = builder.add_extension(extension, is_critical)
        return builder.sign(self._key, hashes.SHA256())
