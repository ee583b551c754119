"""Chains of certificates that an attacker puts together from genuine ones, with keys of the attacker's own."""

import itertools

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import android

KEY = ec.generate_private_key(ec.SECP256R1())
ECDSA = bytes.fromhex("300a06082a8648ce3d040302")


def wrapped(tag, content):
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def spki(key=KEY):
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def parts(der):
    """The signed part's fields, the algorithm and the signature of a certificate."""
    signed, algorithm, signature = android.one(der, 0x30).children()
    return [field.whole for field in signed.children()], algorithm.whole, signature.whole


def signed(fields, key=KEY):
    """A certificate of these fields, signed by the attacker."""
    fields = list(fields)
    at = 1 if fields[0][0] == 0xA0 else 0
    fields[at + 1] = ECDSA
    content = wrapped(0x30, b"".join(fields))
    return wrapped(0x30, content + ECDSA + wrapped(0x03, b"\x00" + key.sign(content, ec.ECDSA(hashes.SHA256()))))


def changed(der, **fields):
    """The fields of a certificate with others in their place, by their names."""
    found, algorithm, signature = parts(der)
    at = 1 if found[0][0] == 0xA0 else 0
    names = {"serial": at, "issuer": at + 2, "validity": at + 3, "subject": at + 4, "key": at + 5, "extensions": at + 6}
    for name, value in fields.items():
        found[names[name]] = value
    return found, algorithm, signature


def with_challenge(der, challenge):
    """The extensions of a leaf, whose description has another challenge."""
    found = parts(der)[0]
    entries = []
    for entry in android.one(android.read_all(found[-1])[0].content, 0x30).children():
        fields = entry.children()
        if android.oid(fields[0]) == android.DESCRIPTION:
            description = [part.whole for part in android.one(fields[-1].content, 0x30).children()]
            description[4] = wrapped(0x04, challenge)
            value = wrapped(0x04, wrapped(0x30, b"".join(description)))
            entries.append(wrapped(0x30, b"".join([part.whole for part in fields[:-1]] + [value])))
        else:
            entries.append(entry.whole)
    return wrapped(0xA3, wrapped(0x30, b"".join(entries)))


def resigned(found, algorithm, signature):
    """A certificate with the signature that another one had."""
    return wrapped(0x30, wrapped(0x30, b"".join(found)) + algorithm + signature)


def forged(chain, challenge):
    """Leaves of the attacker's on genuine certificates, and whole chains of the attacker's."""
    leaf = chain[0]
    extensions = with_challenge(leaf, challenge)
    own = changed(leaf, key=spki(), extensions=extensions)
    yield "a leaf signed by the attacker", [signed(own[0])] + chain[1:]
    yield "a leaf with the signature of the genuine one", [resigned(*own)] + chain[1:]
    yield "the genuine leaf with another challenge", [resigned(*changed(leaf, extensions=extensions))] + chain[1:]
    yield "the genuine leaf with another key", [resigned(*changed(leaf, key=spki()))] + chain[1:]
    for last in range(2, len(chain) + 1):
        # All below are the attacker's, with the genuine names.
        below = [signed(own[0])] + [signed(changed(der, key=spki())[0]) for der in chain[1:last]]
        yield f"{last} certificates of the attacker", below + chain[last:]
    yield "the attacker's chain without a root", [signed(own[0])] + [
        signed(changed(der, key=spki())[0]) for der in chain[1:-1]]


def extended(chain, challenge):
    """A certificate below a genuine leaf, or between two genuine ones: an attested key is no authority."""
    leaf = chain[0]
    subject = parts(leaf)[0][5]
    child = changed(leaf, key=spki(), extensions=with_challenge(leaf, challenge), issuer=subject)
    plain = child[0][:-1]
    for name, fields in (("with", child[0]), ("without", plain)):
        yield f"one {name} a description below the leaf", [signed(fields)] + chain
        yield f"two {name} a description below the leaf", [signed(fields), signed(fields)] + chain
    for index in range(1, len(chain)):
        yield f"one of the attacker before {index}", chain[:index] + [signed(child[0])] + chain[index:]
        yield f"the leaf again before {index}", chain[:index] + [leaf] + chain[index:]


def spliced(chain, other):
    """The lower part of one chain on the upper part of another."""
    for low, high in itertools.product(range(1, len(chain)), range(1, len(other))):
        yield f"{low} on {high}", chain[:low] + other[high:]
    for index in range(len(chain)):
        yield f"a stranger at {index}", chain[:index] + [other[min(index, len(other) - 1)]] + chain[index + 1:]


def moved(chain):
    """Other orders, parts, and certificates that are there twice."""
    if len(chain) <= 4:
        orders = itertools.permutations(range(len(chain)))
    else:
        numbers = list(range(len(chain)))
        orders = [numbers[::-1]] + [numbers[turn:] + numbers[:turn] for turn in range(1, len(chain))]
        for first, second in itertools.combinations(numbers, 2):
            order = list(numbers)
            order[first], order[second] = order[second], order[first]
            orders.append(order)
    for order in orders:
        yield f"in the order {order}", [chain[index] for index in order]
    for start, end in itertools.combinations(range(len(chain) + 1), 2):
        yield f"{start} to {end} alone", chain[start:end]
    for index in range(len(chain)):
        yield f"without {index}", chain[:index] + chain[index + 1:]
        for place in range(len(chain) + 1):
            yield f"{index} again at {place}", chain[:place] + [chain[index]] + chain[place:]
    yield "the whole chain twice", chain + chain
    yield "nothing", []
    for index, der in enumerate(chain):
        for size in (0, 1, len(der) // 2, len(der) - 1):
            yield f"{size} bytes of {index}", chain[:index] + [der[:size]] + chain[index + 1:]
        yield f"a byte after {index}", chain[:index] + [der + b"\x00"] + chain[index + 1:]
        yield f"{index} and the next as one", chain[:index] + [der + b"".join(chain[index + 1:index + 2])] + chain[index + 2:]


def says_the_same(chain, genuine):
    """Whether it is what the device sent: with its root, without it, or with another certificate of the root's key."""
    def path(ders):
        try:
            last = android.certificate(ders[-1], False)
        except (android.Refused, IndexError):
            return ders
        return ders[:-1] if last.issuer == last.subject else ders
    return path(chain) == path(genuine)
