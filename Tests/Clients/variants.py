"""What is put into a place of a request, each time with a plain counterpart."""

import functools
import os

import hostile
import operations

# With this, every method is given every text in every header; otherwise headers that the server reads in the same way for
# all of them, and the texts for these, are shared out among the methods.
EXHAUSTIVE = "ASSAY_EXHAUSTIVE" in os.environ


# Escapes, by the kind of the place.

def in_json(text):
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def in_form(text):
    """As little as possible: also what is not ASCII stays as it is."""
    for byte in b"%&=+#? ":
        text = text.replace(bytes([byte]), b"%%%02X" % byte)
    return text


def escaped_whole(text):
    return b"".join(b"%%%02X" % byte for byte in text)


def in_header(text):
    return text


@functools.cache
def inner(make):
    return lambda size: make(size + 2)[1:-1]


ESCAPES = {
    "string": [("", in_json)], "form": [("", in_form), (" escaped", escaped_whole)],
    "form name": [("", in_form), (" escaped", escaped_whole)], "query": [("", in_form), (" escaped", escaped_whole)],
    "query name": [("", in_form), (" escaped", escaped_whole)],
    "path": [(" escaped", escaped_whole), ("", in_form)], "header": [("", in_header)], "header name": [("", in_header)],
}


@functools.lru_cache(512)
def filled(make, escape, room):
    """A text that fills the room once it is escaped."""
    size = room
    while size > 8:
        text = escape(make(size))
        if len(text) <= room:
            return text
        size = min(size - 1, size * room // len(text))
    return escape(make(8))


def joined(make, end=b"&"):
    return lambda size: end.join(make(size))


def each(form, count=250):
    """As many parameters as are let through, which fill the size."""
    return lambda size: [form(index, max(1, size // count)) for index in range(count)]


PARAMETERS = {
    "ampersands": hostile.repeated("&"), "equals": hostile.repeated("="), "empty values": hostile.repeated("a&"),
    "repeated names": joined(each(lambda index, size: b"a=" + b"1" * (size - 3))),
    "names with long equal prefixes": joined(each(lambda index, size: b"a" * (size - 7) + b"%03d=1" % index)),
    "names of marks": joined(each(lambda index, size: hostile.marks(size - 6) + b"%03d=" % index)),
    "values of marks": joined(each(lambda index, size: b"p%03d=" % index + hostile.marks(size - 6))),
    "parameters beyond number": lambda size: b"&".join(b"p%05d=1" % index for index in range(size // 9)),
}
ORDINARY_PARAMETERS = joined(each(lambda index, size: b"p%03d=" % index + b"a" * (size - 6)))
# Fewer fields than the 100 that are let through.
lines = functools.partial(each, count=90)
LINES = {
    "repeated names": joined(lines(lambda index, size: b"X-A: " + b"1" * (size - 7)), b"\r\n"),
    "credentials": joined(lines(lambda index, size: b"Authorization: Bearer " + b"a" * (size - 24)), b"\r\n"),
    "tokens": joined(lines(lambda index, size: b"X-Firebase-AppCheck: " + b"a" * (size - 23)), b"\r\n"),
    "forwarded paths": joined(lines(lambda index, size: b"X-Forwarded-Uri: /" + b"a" * (size - 20)), b"\r\n"),
    "entity tags": joined(lines(lambda index, size: b"If-None-Match: " + b'"a",' * ((size - 17) // 4)), b"\r\n"),
    "codings": joined(lines(lambda index, size: b"Accept-Encoding: " + b"a;q=0," * ((size - 19) // 6)), b"\r\n"),
    "names with long equal prefixes": joined(
        lines(lambda index, size: b"X-" + b"a" * (size - 10) + b"%03d: 1" % index), b"\r\n"),
    "values of marks": joined(lines(lambda index, size: b"X-%03d: " % index + hostile.marks(size - 9)), b"\r\n"),
}
ordinary_lines = joined(lines(lambda index, size: b"X-%03d: " % index + b"a" * (size - 9)), b"\r\n")
OWN = ("Authorization: Bearer", "X-Firebase-AppCheck")
COMMON = [
    name for name in (
        f"header {name}{': ' + before.strip() if before else ''}" for name, before in operations.HEADERS)
    if name not in [f"header {each}" for each in OWN]
]
ORDINARY = {
    "json": hostile.ordinary_structure, "members": hostile.ordinary_members, "parameters": ORDINARY_PARAMETERS,
    "headers": ordinary_lines,
}
TOKENS = list(hostile.tokens())
TOKEN_PLACE = ("token", "assertion", "attestation", "dpop", "jwt", "pop", "authorization: bearer", "authorization: dpop")
ALWAYS = ["marks", "flags", "invalid UTF-8", "commas", "ligatures"]


def variants(place, rank):
    """Texts for a place, each with its plain counterpart: names, hostile bytes and plain bytes.

    A place that all methods have in common gets some of the texts with each of them, and all of them together.
    """
    # Rounded, so that places of about one size have the same texts.
    room = place.room // 256 * 256
    sizes = [room, room // 8]
    if place.kind in ESCAPES:
        common = place.kind.startswith("header") or "unknown" in place.name or place.name.count(".") > 1
        texts = [
            (name, make, hostile.plain) for index, (name, make) in enumerate(hostile.TEXTS.items())
            if EXHAUSTIVE or name in ALWAYS[:2] or not (index + rank) % (8 if common else 2)]
        if place.kind in ("string", "form", "header") and any(word in place.name.lower() for word in TOKEN_PLACE):
            tokens = TOKENS
            texts += [each for index, each in enumerate(tokens) if EXHAUSTIVE or not (index + rank) % 4]
        for size in sizes:
            for name, make, plain in texts:
                if size != room and "marks" not in name and "flags" not in name:
                    continue
                for note, escape in ESCAPES[place.kind]:
                    if note and name not in ALWAYS:
                        continue
                    text = filled(make, escape, size)
                    letters = filled(plain, escape, len(text))
                    yield f"{name}{note}, {len(text)} bytes", text, letters
        return
    table = {
        "json": hostile.STRUCTURES,
        "members": {name: inner(make) for name, make in hostile.STRUCTURES.items() if "member" in name or "name" in name},
        "parameters": PARAMETERS, "headers": LINES,
    }[place.kind]
    ordinary = ORDINARY[place.kind]
    nested = place.name.count(".") > 1
    for index, (name, make) in enumerate(table.items()):
        if nested and (index + rank) % 4 and not EXHAUSTIVE:
            continue
        text = make(room)
        yield f"{name}, {len(text)} bytes", text, ordinary(room)
