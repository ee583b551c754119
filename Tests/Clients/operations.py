"""The methods of a server as requests, made of its own description in OpenAPI, so that a new method joins by itself."""

import copy
import dataclasses
import json
import re
import urllib.parse

MARK = "ZZPLACEZZ"
BODY, HEAD = 65_536, 16_384
FORM, JSON = "application/x-www-form-urlencoded", "application/json"

# What any method may be sent, whether it reads it or not: a name, and what stands before the text.
HEADERS = [
    ("Authorization", "Bearer "), ("Authorization", "Basic "), ("Authorization", "DPoP "), ("Authorization", ""),
    ("X-Firebase-AppCheck", ""), ("If-None-Match", ""), ("If-Match", ""), ("Accept-Encoding", ""), ("Accept", ""),
    ("Origin", ""), ("Access-Control-Request-Headers", ""), ("Access-Control-Request-Method", ""), ("Content-Type", ""),
    ("Content-Type", "application/json; charset="), ("Content-Encoding", ""), ("Transfer-Encoding", ""), ("Host", ""),
    ("Cookie", ""), ("Connection", ""), ("Upgrade", ""), ("Expect", ""), ("TE", ""), ("DPoP", ""),
    ("OAuth-Client-Attestation", ""), ("OAuth-Client-Attestation-PoP", ""), ("X-Forwarded-For", ""), ("Forwarded", ""),
    ("X-Forwarded-Uri", ""), ("X-Forwarded-Method", ""), ("X-Original-Uri", ""), ("X-Original-URL", ""),
    ("X-Original-Method", ""), ("X-Original-Host", ""), ("traceparent", ""), ("X-Request-Id", ""), ("X-Unknown", ""),
    ("User-Agent", ""),
]


@dataclasses.dataclass
class Place:
    """Where a text goes in a request."""

    name: str
    # `json` takes any value, `string` text within quotes, `member` members of an object, `form`, `query`, `path`,
    # `header` and `name` text.
    kind: str
    # The request with a text, which is escaped already.
    request: object
    # The most bytes that fit.
    room: int


class Operation:
    def __init__(self, verb, path, description, samples, credentials):
        self.verb, self.path, self.description = verb.upper(), path, description
        self.id = description["operationId"]
        self.samples, self.credentials = samples, credentials
        self.parameters = description.get("parameters", [])
        content = description.get("requestBody", {}).get("content", {})
        self.type = next(iter(content), None)
        self.schema = content.get(self.type, {}).get("schema", {})

    @property
    def method(self):
        """The name that `assay methods` gives it."""
        return re.sub(r"^v[0-9a-z]+_", "", self.id).split("_")[0]

    def _of(self, kind):
        return {each["name"]: each["schema"] for each in self.parameters if each["in"] == kind}

    def sample(self, name, schema):
        for key in (f"{self.method}.{name}", name):
            if key in self.samples:
                return self.samples[key]
        for key in ("enum", "examples"):
            if schema.get(key):
                return schema[key][0]
        kind = schema.get("type")
        if kind == "object":
            return {name: self.sample(name, each) for name, each in schema.get("properties", {}).items()}
        if kind == "array":
            return [self.sample(name, schema.get("items", {}))]
        return {"boolean": False, "integer": 1, "number": 1}.get(kind, "text")

    # The parts of a request that nothing is changed in.

    def _target(self, path=None, query=None):
        path = path or {}
        target = self.path
        for name, schema in self._of("path").items():
            value = path.get(name) or urllib.parse.quote(str(self.sample(name, schema)), safe=":")
            target = target.replace("{" + name + "}", value)
        if query is None:
            query = "&".join(
                f"{name}={urllib.parse.quote(str(value))}" for name, value in self._query().items())
        return target + ("?" + query if query else "")

    def _query(self):
        values = {name: self.sample(name, schema) for name, schema in self._of("query").items()}
        return {name: value[0] if isinstance(value, list) else value for name, value in values.items()}

    def _head(self, target, headers=()):
        fields = [("Host", "assay"), *self.credentials.items()]
        if self.type:
            fields.append(("Content-Type", self.type))
        changed = {name.lower() for name, _ in headers}
        fields = [field for field in fields if field[0].lower() not in changed] + list(headers)
        return f"{self.verb} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)

    def _body(self):
        if self.type == JSON:
            return json.dumps(self._members())
        return "&".join(f"{name}={urllib.parse.quote(value)}" for name, value in self._form()) if self.type else ""

    def _members(self):
        return {name: self.sample(name, schema) for name, schema in self.schema.get("properties", {}).items()}

    def _form(self):
        values = ((name, self.sample(name, schema)) for name, schema in self.schema.get("properties", {}).items())
        return [(name, value[0] if isinstance(value, list) else str(value)) for name, value in values if value != ""]

    def _place(self, name, kind, head, body, limit):
        """Cuts a request in two where the mark is."""
        def parts(text):
            return tuple(part.encode() for part in text.split(MARK)) if MARK in text else None

        cut = parts(body)
        if cut:
            room = limit - len(cut[0]) - len(cut[1])

            def request(text):
                length = len(cut[0]) + len(text) + len(cut[1])
                return b"%sContent-Length: %d\r\n\r\n" % (head.encode(), length) + cut[0] + text + cut[1]
        else:
            end = f"Content-Length: {len(body)}\r\n\r\n{body}" if self.type else "\r\n"
            before, after = parts(head + end)
            # The limit is on the head alone, and its framing counts in part.
            room = limit - len(head) - 64

            def request(text):
                return before + text + after
        return Place(name, kind, request, room)

    def plain(self):
        """The request that nothing is changed in: verb, target, header fields and body."""
        fields = [*self.credentials.items(), *([("Content-Type", self.type)] if self.type else [])]
        return self.verb, self._target(), dict(fields), self._body()

    # What is changed.

    def places(self):
        target, body = self._target(), self._body()
        for name in self._of("path"):
            yield self._place(f"path {name}", "path", self._head(self._target({name: MARK})), body, HEAD)
        query = self._query()
        for name in [*query, "unknown"]:
            values = "&".join(f"{each}={value}" for each, value in {**query, name: MARK}.items())
            yield self._place(f"query {name}", "query", self._head(self._target(query=values)), body, HEAD)
        yield self._place("query name", "query name", self._head(self._target(query=f"{MARK}=1")), body, HEAD)
        yield self._place("queries", "parameters", self._head(self._target(query=MARK)), body, HEAD)
        for name, before in HEADERS:
            yield self._place(
                f"header {name}{': ' + before.strip() if before else ''}", "header",
                self._head(target, [(name, before + MARK)]), body, HEAD)
        yield self._place("header name", "header name", self._head(target, [(MARK, "1")]), body, HEAD)
        yield self._place(
            "headers", "headers", self._head(target, [("A", "1\r\n" + MARK)]), body, HEAD)
        head = self._head(target)
        if self.type == JSON:
            yield from self._json_places(head)
        elif self.type == FORM:
            yield from self._form_places(head)

    def _json_places(self, head):
        document = self._members()

        def place(name, kind, changed, quoted=None):
            text = json.dumps(changed)
            text = text.replace(f'"{MARK}"', MARK) if quoted is False else text
            return self._place(name, kind, head, text, BODY)

        def walk(value, path, replaced):
            name = "body" + "".join(f".{each}" for each in path)
            if path:
                yield place(name, "string", replaced(MARK))
            yield place(name, "json", replaced(MARK), quoted=False)
            if isinstance(value, dict):
                yield place(name + " name", "string", replaced({**value, MARK: 1}))
                extra = json.dumps(replaced({**value, MARK: 1})).replace(f'"{MARK}": 1', MARK)
                yield self._place(name + " members", "members", head, extra, BODY)
                for key, member in value.items():
                    yield from walk(
                        member, [*path, key], lambda new, key=key: replaced({**value, key: new}))
            elif isinstance(value, list):
                for index, element in enumerate(value[:1]):
                    yield from walk(element, [*path, "0"], lambda new: replaced([new]))

        yield from walk(copy.deepcopy(document), [], lambda new: new)

    def _form_places(self, head):
        fields = self._form()

        def place(name, kind, text):
            return self._place(name, kind, head, text, BODY)

        def encoded(pairs):
            return "&".join(f"{name}={value if MARK in value else urllib.parse.quote(value)}" for name, value in pairs)

        for name in [*self.schema.get("properties", {}), "unknown"]:
            others = [pair for pair in fields if pair[0] != name]
            yield place(f"form {name}", "form", encoded([*others, (name, MARK)]))
        yield place("form name", "form name", encoded([*fields, (MARK, "1")]))
        yield place("form", "parameters", encoded(fields) + "&" + MARK)


def operations(description, samples, credentials):
    """One operation of each method: those of v1beta that v1 has, and further verbs for one path, are the same code."""
    found = {}
    for path, item in description["paths"].items():
        if path.startswith("/v1beta/") and path.replace("/v1beta/", "/v1/", 1) in description["paths"]:
            continue
        for verb, each in item.items():
            if verb not in ("get", "put", "post", "patch", "delete"):
                continue
            operation = Operation(verb, path, each, samples, credentials)
            key = (path, operation.method)
            if key not in found:
                found[key] = operation
    return list(found.values())
