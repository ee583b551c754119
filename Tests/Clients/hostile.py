"""Hostile text and structures, each with the plain counterpart that its cost is held against."""

import base64
import functools
import unicodedata

ISSUER = "https://login.example.com/"

# Marks by their canonical combining class, the highest first, and only those of two bytes in UTF-8: a run of these in this
# order costs a sorting normalizer the square of its length.
_MARKS = {}
for _code in range(0x300, 0x800):
    _class = unicodedata.combining(chr(_code))
    if _class:
        _MARKS.setdefault(_class, chr(_code))


@functools.cache
def marks(size):
    classes = sorted(_MARKS, reverse=True)
    each = max(1, (size - 1) // 2 // len(classes))
    return ("e" + "".join(_MARKS[each_class] * each for each_class in classes)).encode()[:size]


def repeated(unit):
    unit = unit.encode() if isinstance(unit, str) else unit
    return lambda size: unit * (size // len(unit))


def plain(size):
    return b"a" * size


# Of one string: the name, and a function from the number of bytes to the text. What cannot stand in JSON, a form, a
# query or a header as it is, is escaped where it is put.
TEXTS = {
    "marks": marks,
    "ascending marks": repeated("e" + "".join(_MARKS[each] for each in sorted(_MARKS))),
    "flags": repeated("\U0001F1E6"),
    "joined emoji": repeated("\U0001F468\u200D"),
    "jamo": repeated("\u1100\u1161\u11A8"),
    "Kelvin signs": repeated("\u212A"),
    "ligatures": repeated("\uFDFA"),
    "invalid UTF-8": repeated(b"\xff\xc0\xae\xed\xa0\x80"),
    "cut UTF-8": repeated(b"\xf0\x9f\x87"),
    "commas": repeated(","),
    "commas and spaces": repeated(", "),
    "quoted tags": repeated('W/"a",'),
    "semicolons": repeated(";"),
    "parameters": repeated("a;q=1,"),
    "dots": repeated("."),
    "slashes": repeated("/"),
    "colons": repeated(":"),
    "spaces": repeated(" "),
    "percents": repeated("%"),
    "escapes": repeated("%41"),
    "equals": repeated("="),
    "ampersands": repeated("&"),
    "quotes": repeated('"'),
    "backslashes": repeated("\\"),
    "digits": repeated("9"),
    "words": repeated("a "),
}


def _encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _jws(header, payload, size, fill):
    """A token with a text in it that fills the size; its signature is of nothing."""
    def token(text):
        return b".".join([_encoded(header.replace(b"%s", text)), _encoded(payload.replace(b"%s", text)), b"A" * 342])

    return token(fill(max(8, (size - len(token(b""))) * 3 // 4 - 3)))


_HEADER, _CLAIMS = b'{"alg":"RS256","typ":"JWT","kid":"k"}', b'{"iss":"%s","sub":"s","aud":"a","exp":1}' % ISSUER.encode()
_PLACES = {
    "kid": (b'{"alg":"RS256","typ":"JWT","kid":"%s"}', _CLAIMS),
    "typ": (b'{"alg":"RS256","typ":"%s","kid":"k"}', _CLAIMS),
    "alg": (b'{"alg":"%s","typ":"JWT","kid":"k"}', _CLAIMS),
    "header name": (b'{"alg":"RS256","typ":"JWT","kid":"k","%s":1}', _CLAIMS),
    "iss": (_HEADER, b'{"iss":"%s","sub":"s"}'),
    "claim name": (_HEADER, b'{"iss":"' + ISSUER.encode() + b'","%s":1}'),
}
_STRUCTURES = {
    "header value": (b'{"alg":"RS256","typ":"JWT","kid":"k","a":%s}', _CLAIMS),
    "header": (b'{"alg":"RS256","typ":"JWT","kid":"k",%s}', _CLAIMS),
    "claims": (_HEADER, b'{"iss":"' + ISSUER.encode() + b'",%s}'),
}


def numbered(form, size):
    """Members with names of their own, within a number of bytes."""
    out, length, index = [], 0, 0
    while length + len(form) + 6 <= size:
        out.append(form % index)
        length += len(out[-1]) + 1
        index += 1
    return b",".join(out)


def ordinary_members(size):
    return numbered(b'"member_%04d":"value"', size)


def _wide(size, unit):
    return b",".join([unit] * max(1, size // (len(unit) + 1)))


# Of JSON: values in place of a value.
STRUCTURES = {
    "deep arrays": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    # As deep, and with as many values, as is let through.
    "nested arrays": lambda size: b"[" + _wide(size - 2, b"[" * 20 + b'"' + b"a" * max(1, size // 150 - 44) + b'"' + b"]" * 20)
    + b"]",
    "deep objects": lambda size: b'{"a":' * (size // 6) + b"0" + b"}" * (size // 6),
    "many members": lambda size: b"{" + numbered(b'"m%d":0', size - 2) + b"}",
    "members with equal ends": lambda size: b"{" + numbered(b'"%04daaaaaa":0', size - 2) + b"}",
    "repeated names": lambda size: b"{" + _wide(size - 2, b'"a":0') + b"}",
    "names with long equal prefixes": lambda size: b"{" + numbered(b'"' + b"a" * 250 + b'%04d":0', size - 2) + b"}",
    "names of marks": lambda size: b"{" + _wide(size - 2, b'"' + marks(1000) + b'":0') + b"}",
    "many elements": lambda size: b"[" + _wide(size - 2, b"0") + b"]",
    "strings of marks": lambda size: b"[" + _wide(size - 2, b'"' + marks(1000) + b'"') + b"]",
    "a huge integer": lambda size: b"9" * size,
    "a huge exponent": lambda size: b"1e" + b"9" * (size - 2),
    "a long fraction": lambda size: b"0." + b"1" * (size - 2),
    "escaped marks": lambda size: b'"e' + b"".join(
        b"\\u%04x" % ord(mark) for mark in marks(max(2, (size - 4) // 3)).decode(errors="ignore")[1:])[:size // 6 * 6 - 6]
    + b'"',
    "lone surrogates": lambda size: b'"' + b"\\ud800" * (size // 6 - 1) + b'"',
}


def ordinary_structure(size):
    return b"{" + ordinary_members(size - 2) + b"}"


def tokens():
    """Tokens whose header or claims are hostile, each with its plain counterpart."""
    for name, (header, payload) in _PLACES.items():
        for text in ("marks", "flags"):
            yield f"a token with {text} as {name}", functools.partial(_jws, header, payload, fill=TEXTS[text]), \
                functools.partial(_jws, header, payload, fill=plain)
    for name, (header, payload) in _STRUCTURES.items():
        parts = STRUCTURES if name == "header value" else {
            each: lambda size, make=make: make(size + 2)[1:-1] for each, make in STRUCTURES.items() if "name" in each or
            "members" in each}
        ordinary = ordinary_structure if name == "header value" else ordinary_members
        for each, make in parts.items():
            yield f"a token with {each} as {name}", functools.partial(_jws, header, payload, fill=make), \
                functools.partial(_jws, header, payload, fill=ordinary)
