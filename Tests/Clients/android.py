"""Android key attestation verified a second time, from the specification: nothing of the server's code is used."""

import datetime
import hashlib
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

DESCRIPTION = "1.3.6.1.4.1.11129.2.1.17"
PROVISIONING = "1.3.6.1.4.1.11129.2.1.30"
GOOGLE = {
    "feb2ea7551ee316ed4bb443c8293b884dbfdea40b603ee3e4f4a897e4580fbae",
    "3ee44512a1af2beb39c889490c60ea3f82e43f5d5a5532f5ab9419f676cd07ec",
}
HASHES = {
    "1.2.840.10045.4.3.2": (ec, hashes.SHA256), "1.2.840.10045.4.3.3": (ec, hashes.SHA384),
    "1.2.840.10045.4.3.4": (ec, hashes.SHA512), "1.2.840.113549.1.1.11": (rsa, hashes.SHA256),
    "1.2.840.113549.1.1.12": (rsa, hashes.SHA384), "1.2.840.113549.1.1.13": (rsa, hashes.SHA512),
}


class Refused(Exception):
    pass


def demand(holds, why):
    if not holds:
        raise Refused(why)


# DER


@dataclass
class Node:
    tag: int
    number: int
    content: bytes
    whole: bytes

    def children(self):
        demand(self.tag & 0x20, "not constructed")
        return read_all(self.content)


def read(data, start):
    demand(start < len(data), "truncated")
    position = start
    tag = data[position]
    position += 1
    number = tag & 0x1F
    if number == 0x1F:
        number = 0
        while True:
            demand(position < len(data) and position - start <= 4, "tag")
            byte = data[position]
            demand(number or byte != 0x80, "tag")
            position += 1
            number = number << 7 | byte & 0x7F
            if not byte & 0x80:
                break
        demand(number >= 0x1F, "tag")
    demand(position < len(data), "truncated")
    length = data[position]
    position += 1
    if length >= 0x80:
        count = length & 0x7F
        demand(1 <= count <= 4 and position + count <= len(data), "length")
        length = int.from_bytes(data[position:position + count], "big")
        demand(data[position] and length >= 0x80, "length")
        position += count
    end = position + length
    demand(end <= len(data), "truncated")
    return Node(tag, number, data[position:end], data[start:end]), end


def read_all(data):
    nodes, position = [], 0
    while position < len(data):
        node, position = read(data, position)
        nodes.append(node)
    return nodes


def one(data, tag):
    nodes = read_all(data)
    demand(len(nodes) == 1 and nodes[0].tag == tag, "one value")
    return nodes[0]


def number(node, tag=0x02):
    content = node.content
    demand(node.tag == tag and content, "number")
    if len(content) > 1:
        demand(not (content[0] == 0 and content[1] < 0x80), "number")
        demand(not (content[0] == 0xFF and content[1] >= 0x80), "number")
    return int.from_bytes(content, "big", signed=True)


def small(node, tag=0x02):
    value = number(node, tag)
    demand(0 <= value < 1 << 31, "number")
    return value


def oid(node):
    demand(node.tag == 0x06 and node.content, "identifier")
    arcs, arc, begins = [], 0, True
    demand(not node.content[-1] & 0x80 and len(node.content) <= 64, "identifier")
    for byte in node.content:
        demand(not (begins and byte == 0x80), "identifier")
        arc = arc << 7 | byte & 0x7F
        begins = not byte & 0x80
        if begins:
            if not arcs:
                first = min(arc // 40, 2)
                arcs = [first, arc - 40 * first]
            else:
                arcs.append(arc)
            arc = 0
    return ".".join(map(str, arcs))


def octets(node):
    demand(node.tag == 0x04, "octets")
    return node.content


# Certificates


@dataclass
class Certificate:
    signed: bytes
    algorithm: str
    serial: int
    issuer: bytes
    subject: bytes
    begins: datetime.datetime
    ends: datetime.datetime
    key: bytes
    signature: bytes
    extensions: dict = field(default_factory=dict)
    critical: set = field(default_factory=set)

    def attributes(self):
        found = {}
        for part in one(self.subject, 0x30).children():
            for attribute in part.children():
                kind, value = attribute.children()
                found.setdefault(oid(kind), value.content)
        return found

    def constraints(self):
        value = self.extensions.get("2.5.29.19")
        if value is None:
            return False, None
        parts = one(value, 0x30).children()
        if not parts:
            return False, None
        demand(parts[0].tag == 0x01 and len(parts[0].content) == 1 and parts[0].content[0], "constraints")
        demand(len(parts) <= 2, "constraints")
        return True, small(parts[1]) if len(parts) == 2 else None

    def signs_certificates(self):
        value = self.extensions.get("2.5.29.15")
        if value is None:
            return False
        bits = one(value, 0x03).content
        demand(bits and bits[0] < 8 and len(bits) <= 3, "usage")
        demand(len(bits) > 1 or not bits[0], "usage")
        if len(bits) > 1:
            # Bits that are not used are zero.
            demand(bits[-1] & (1 << bits[0]) - 1 == 0, "usage")
        return len(bits) > 1 and bool(bits[1] & 0x04)


def time(node):
    text = node.content
    demand(node.tag in (0x17, 0x18) and text[-1:] == b"Z" and text[:-1].isdigit(), "time")
    digits = text[:-1].decode()
    if node.tag == 0x17:
        demand(len(digits) == 12, "time")
        digits = ("20" if int(digits[:2]) < 50 else "19") + digits
    demand(len(digits) == 14, "time")
    try:
        return datetime.datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        raise Refused("time") from None


def name(node):
    demand(node.tag == 0x30, "name")
    for part in node.children():
        demand(part.tag == 0x31 and part.children(), "name")
        for attribute in part.children():
            demand(attribute.tag == 0x30, "name")
            kind, value = exactly(attribute.children(), 2)
            oid(kind)
            demand(not value.tag & 0x20, "name")
    return node.whole


def exactly(nodes, count):
    demand(len(nodes) == count, "count")
    return nodes


def algorithm_of(node):
    demand(node.tag == 0x30, "algorithm")
    parts = node.children()
    demand(1 <= len(parts) <= 2, "algorithm")
    if len(parts) == 2:
        demand(parts[1].whole == b"\x05\x00", "parameters")
    return oid(parts[0])


def bits(node):
    demand(node.tag == 0x03 and node.content[:1] == b"\x00", "bits")
    return node.content[1:]


def certificate(der, is_leaf):
    demand(len(der) <= 16384, "size")
    signed, algorithm, signature = exactly(one(der, 0x30).children(), 3)
    demand(signed.tag == 0x30, "signed part")
    fields = signed.children()
    if fields and fields[0].tag == 0xA0:
        fields = fields[1:]
    demand(len(fields) in (6, 7), "fields")
    serial = number(fields[0])
    demand(serial > 0 and len(fields[0].content) <= 20, "serial")
    demand(fields[1].whole == algorithm.whole, "two algorithms")
    begins, ends = exactly(fields[3].children(), 2)
    demand(fields[3].tag == 0x30, "validity")
    identifier = algorithm_of(algorithm)
    demand(identifier in HASHES, "algorithm")
    made = Certificate(
        signed.whole, identifier, serial, name(fields[2]), name(fields[4]), time(begins), time(ends),
        fields[5].whole, bits(signature))
    key(made.key, is_leaf)
    if len(fields) == 7:
        demand(fields[6].tag == 0xA3, "extensions")
        entries = one(fields[6].content, 0x30).children()
        demand(1 <= len(entries) <= 32, "extensions")
        for entry in entries:
            demand(entry.tag == 0x30, "extension")
            parts = entry.children()
            demand(2 <= len(parts) <= 3, "extension")
            kind = oid(parts[0])
            demand(kind not in made.extensions, "extension twice")
            if len(parts) == 3:
                demand(parts[1].tag == 0x01 and len(parts[1].content) == 1 and parts[1].content[0], "critical")
                made.critical.add(kind)
            made.extensions[kind] = octets(parts[-1])
    made.constraints()
    made.signs_certificates()
    return made


def key(spki, is_leaf=False):
    """The key of a SubjectPublicKeyInfo; None for the kinds that only leaves may have."""
    algorithm, point = exactly(one(spki, 0x30).children(), 2)
    parts = algorithm.children()
    demand(algorithm.tag == 0x30 and parts, "key")
    kind, content = oid(parts[0]), bits(point)
    if kind == "1.2.840.10045.2.1":
        demand(len(parts) == 2, "curve")
        size = {"1.2.840.10045.3.1.7": 65, "1.3.132.0.34": 97}.get(oid(parts[1]))
        demand(size == len(content) and content[0] == 4, "point")
    elif kind == "1.2.840.113549.1.1.1":
        demand(len(parts) == 2 and parts[1].whole == b"\x05\x00", "parameters")
        modulus, exponent = (number(part) for part in exactly(one(content, 0x30).children(), 2))
        demand(modulus > 0 and exponent > 0 and 2048 <= modulus.bit_length() <= 4096, "modulus")
    else:
        demand(is_leaf, "kind of key")
        return None
    return spki


def verify(made, issuer):
    family, digest = HASHES[made.algorithm]
    try:
        public = serialization.load_der_public_key(issuer)
        if family is ec:
            demand(isinstance(public, ec.EllipticCurvePublicKey), "another kind of key")
            for part in exactly(one(made.signature, 0x30).children(), 2):
                demand(number(part) > 0, "signature")
            public.verify(made.signature, made.signed, ec.ECDSA(digest()))
        else:
            demand(isinstance(public, rsa.RSAPublicKey), "another kind of key")
            public.verify(made.signature, made.signed, padding.PKCS1v15(), digest())
    except (InvalidSignature, ValueError) as error:
        raise Refused(f"signature: {error}") from None


# The description


def authorizations(node):
    demand(node.tag == 0x30, "list")
    found = {}
    for entry in node.children():
        demand(entry.tag & 0xE0 == 0xA0, "tag")
        demand(entry.number not in found and len(found) < 64, "tag twice")
        value, = exactly(read_all(entry.content), 1)
        found[entry.number] = value
    for tag in (303, 503, 703):
        demand(tag not in found or found[tag].whole == b"\x05\x00", "null")
    for tag in (2, 3, 702, 705, 706, 718, 719):
        if tag in found:
            small(found[tag])
    if 1 in found:
        demand(found[1].tag == 0x31, "purposes")
        for value in found[1].children():
            small(value)
    if 704 in found:
        parts = found[704].children()
        demand(found[704].tag == 0x30 and len(parts) in (3, 4), "root of trust")
        octets(parts[0])
        demand(parts[1].tag == 0x01 and parts[1].content in (b"\x00", b"\xff"), "locked")
        demand(small(parts[2], 0x0A) <= 3, "boot state")
        if len(parts) == 4:
            octets(parts[3])
    if 709 in found:
        application(found[709])
    return found


def application(node):
    packages, signers = exactly(one(octets(node), 0x30).children(), 2)
    demand(packages.tag == 0x31 and signers.tag == 0x31, "application")
    names = []
    for entry in packages.children():
        demand(entry.tag == 0x30, "package")
        title, version = exactly(entry.children(), 2)
        demand(len(version.content) <= 8, "version")
        number(version)
        names.append(octets(title))
    digests = [octets(entry) for entry in signers.children()]
    demand(len(names) <= 64 and len(digests) <= 64, "application")
    return names, digests


def judge(chain, package, digests, challenge, at):
    """Raises Refused for what a policy without settings refuses, revoked certificates aside."""
    demand(2 <= len(chain) <= 10 and sum(map(len, chain)) <= 65536, "size")
    path = [certificate(der, index == 0) for index, der in enumerate(chain)]
    root = path.pop() if path[-1].issuer == path[-1].subject else None
    demand(path and all(one.issuer != one.subject for one in path), "two roots")
    demand(all(DESCRIPTION not in one.extensions for one in path[1:] + ([root] if root else [])), "extended")
    describe(path, package, digests, challenge)
    trusted = {made for made in roots() if made[0] == path[-1].issuer}
    if root:
        demand(hashlib.sha256(root.key).hexdigest() in GOOGLE, "root")
        verify(root, root.key)
    demand(trusted, "root")
    factory = len(path) > 1 and "2.5.4.5" in path[-1].attributes()
    factory = factory and all(PROVISIONING not in one.extensions for one in path)
    leaf = path[0]
    demand(not leaf.constraints()[0] and not leaf.signs_certificates(), "leaf is an authority")
    for index, made in enumerate(path):
        known = {"2.5.29.19", "2.5.29.15"} | ({DESCRIPTION} if index == 0 else set())
        demand(made.critical <= known, "critical")
        if index == 0:
            continue
        is_authority, limit = made.constraints()
        if not factory:
            demand(is_authority and made.signs_certificates(), "no authority")
        elif index > 1:
            demand(is_authority, "no authority")
        demand(limit is None or index - 1 <= limit, "path length")
        demand(made.begins <= at, "not yet valid")
        demand(factory or at <= made.ends, "expired")
    for index, (below, above) in enumerate(zip(path, path[1:])):
        demand(below.issuer == above.subject or factory and index == 0, "names")
        verify(below, above.key)
    for _, key in trusted:
        try:
            return verify(path[-1], key)
        except Refused:
            continue
    raise Refused("signature of the root")


def describe(path, package, digests, challenge):
    value = path[0].extensions.get(DESCRIPTION)
    demand(value is not None and len(value) <= 8192, "no description")
    parts = exactly(one(value, 0x30).children(), 8)
    small(parts[0])
    level = small(parts[1], 0x0A)
    small(parts[2])
    demand(level == small(parts[3], 0x0A) and level in (1, 2), "level")
    demand(octets(parts[4]) == challenge, "challenge")
    octets(parts[5])
    software, hardware = authorizations(parts[6]), authorizations(parts[7])
    ends = [made.attributes() for made in path[1:2] + path[1:][-1:]]
    is_strong = any(b"StrongBox" in (one.get(kind) for kind in ("2.5.4.3", "2.5.4.10", "2.5.4.12")) for one in ends)
    demand((level == 2) == is_strong, "level of the chain")
    demand(704 in hardware, "root of trust")
    boot = hardware[704].children()
    demand(boot[1].content == b"\xff", "unlocked")
    demand(702 in hardware and small(hardware[702]) == 0, "origin")
    purposes = [small(value) for value in hardware[1].children()] if 1 in hardware else []
    demand(2 in purposes and 7 not in purposes, "purposes")
    demand(2 not in hardware or small(hardware[2]) != 4, "ML-DSA")
    demand(709 in software, "application")
    names, signers = application(software[709])
    demand(b"UnknownApplication" not in names and package.encode() in names, "package")
    demand(signers and all(digest in digests for digest in signers), "signers")
    demand(small(boot[2], 0x0A) == 0, "boot state")


ROOTS = []


def roots():
    """The subjects and keys of the trusted roots."""
    return [(made.subject, made.key) for made in ROOTS]


def trust(ders):
    ROOTS[:] = [certificate(der, False) for der in ders]
    assert all(hashlib.sha256(made.key).hexdigest() in GOOGLE for made in ROOTS)
