"""Finds subscripts that end the process when a list, a text or a row from outside is shorter than the code expects.

A subscript with a number, such as `parts[1]` or `bytes[..<4]`, is checked when the count of what stands before the bracket was compared
before, in the same statement or in the 24 lines above: `parts.count == 2`, `parts.count >= 2`, `switch parts.count`, or, for the first
element, `!parts.isEmpty`; or when it is a slice of a known length: `let body = bytes[..<37]`. What a call returns, as in `run(…)[0]`,
cannot have been compared. A comment `In bounds: …` says why the lines from there to the next empty one need no check. What is
forced, as in `rows.first!`, is found, too. Subscripts with a variable are not looked at.
"""
import re

LOOK_BACK = 24

NAME = r"[A-Za-z_$][\w$]*"
# What stands before a bracket, when it has a name: `parts`, `self.parts`, `reply.elements`, `$0`.
BASE = rf"(?:{NAME}[?!]?\.)*{NAME}|\)|\]|\}}"
SUBSCRIPT = re.compile(
    rf"(?P<base>{BASE})[?!]?\[\s*(?P<range>\d+\s*(?:\.\.\.|\.\.<)\s*\d*|(?:\.\.\.|\.\.<)\s*\d+|\d+)\s*\]")
FORCED = re.compile(r"(?:\.(?:first|last|min\(\)|max\(\)|popFirst\(\)|popLast\(\))|\])!(?!=)")
# Words after which a bracket begins a list of its own.
WORDS = {"in", "return", "case", "let", "var", "else", "is", "as", "where", "throw", "try", "await"}


def code_of(text):
    """The text with its comments and the words of its literals blanked; what is interpolated stays."""
    out = list(text)
    stack = []  # of ("text", closing quotes) and ("code", open parentheses)
    index = 0
    while index < len(text):
        mode = stack[-1] if stack else ("code", None)
        if mode[0] == "code":
            if text.startswith("//", index):
                end = text.find("\n", index)
                end = len(text) if end < 0 else end
                out[index:end] = " " * (end - index)
                index = end
            elif text.startswith("/*", index):
                end = text.find("*/", index) + 2
                out[index:end] = [c if c == "\n" else " " for c in text[index:end]]
                index = end
            elif found := re.compile(r'(#*)("""|")').match(text, index):
                stack.append(("text", found[2] + found[1], found[1]))
                index = found.end()
            else:
                if mode[1] is not None:
                    depth = mode[1] + {"(": 1, ")": -1}.get(text[index], 0)
                    if depth < 0:
                        stack.pop()
                    else:
                        stack[-1] = ("code", depth)
                index += 1
        else:
            _, quotes, marks = mode
            escape = "\\" + marks
            if text.startswith(quotes, index):
                stack.pop()
                index += len(quotes)
            elif text.startswith(escape + "(", index):
                stack.append(("code", 0))
                index += len(escape) + 1
            elif text.startswith(escape, index):
                out[index:index + len(escape) + 1] = [c if c == "\n" else " " for c in text[index:index + len(escape) + 1]]
                index += len(escape) + 1
            else:
                if text[index] != "\n":
                    out[index] = " "
                index += 1
    return "".join(out)


def needed(subscript):
    """How many elements there must be."""
    numbers = [int(number) for number in re.findall(r"\d+", subscript)]
    if "..<" in subscript or subscript.rstrip().endswith("..."):
        return max(numbers)
    return max(numbers) + 1


def is_checked(base, count, before):
    """Whether the count of `base` was compared in the code before."""
    name = re.escape(base) + r"[?!]?(?:\.(?:utf8|bytes))?"
    found = []
    for compared in re.finditer(rf"(?<![\w.]){name}\.count\s*(==|>=|>)\s*(\d+|[A-Za-z_][\w.]*)", before):
        if not compared[2].isdigit():
            return True  # A constant with a name.
        found.append(int(compared[2]) + (compared[1] == ">"))
    found += [int(least) for least in re.findall(rf"\((\d+)\s*(?:\.\.\.|\.\.<)[^)]*\)\.contains\({name}\.count\)", before)]
    if re.search(rf"switch\s+{name}\.count\b", before):
        found += [int(number) for number in re.findall(r"case\s+(\d+)", before)]
    if re.search(rf"!{name}\.isEmpty\b|(?<![\w.]){name}\.isEmpty\s*(?:\|\||\?)", before) or re.search(
            rf"guard\s+!?{name}\.isEmpty", before):
        found.append(1)
    for sliced in re.finditer(rf"let {name}\s*=\s*(?:Array\()?[\w.]+\[\.\.<\s*([\w.]+)\s*\]", before):
        if not sliced[1].isdigit():
            return True
        found.append(int(sliced[1]))
    return any(number >= count for number in found)


def is_excused(lines, number):
    """Whether a comment says that the line is in bounds."""
    for line in reversed(lines[:number + 1]):
        if not line.strip():
            return False
        if "// In bounds:" in line:
            return True
    return False


def unchecked(text):
    """(line, code) of each subscript without a check."""
    original, lines = text.split("\n"), code_of(text).split("\n")
    for number, line in enumerate(lines):
        excused = is_excused(original, number)
        for found in FORCED.finditer(line):
            if not excused:
                yield number + 1, original[number].strip()
        for found in SUBSCRIPT.finditer(line):
            base = found["base"]
            if base in WORDS or excused:
                continue
            before = "\n".join(lines[max(0, number - LOOK_BACK):number] + [line[:found.start()]])
            if base in ")]}" or not is_checked(base, needed(found["range"]), before):
                yield number + 1, original[number].strip()


# Code, and the lines of it that are found.
SAMPLES = [
    ("let table = try db.run([Step(statement)], until: end)[0]", [1]),
    ("let name = text.split(separator: \"/\")[1]", [1]),
    ("let parts = text.split(separator: \"/\")\nlet name = parts[1]", [2]),
    ("guard parts.count == 2 else { return nil }\nlet name = parts[1]", []),
    ("guard parts.count == 2 else { return nil }\nlet name = parts[2]", [2]),
    ("guard parts.count > 2, isWord(parts[2]) else { return nil }", []),
    ("guard isWord(parts[2]), parts.count > 2 else { return nil }", [1]),
    ("guard others.count == 2 else { return nil }\nlet name = parts[1]", [2]),
    ("guard (3...4).contains(parts.count) else { return }\nuse(parts[2], parts[3])", [2]),
    ("switch parts.count {\ncase 2: use(parts[1])\ndefault: use(parts[0])\n}", []),
    ("guard !rows.isEmpty else { return }\nuse(rows[0], rows[1])", [2]),
    ("if rows.isEmpty || rows[0] == nil { return }", []),
    ("let row = reply.elements[0].elements[1]", [1, 1]),
    ("let text = \"of \\(parts[3])\"", [1]),
    ("let text = \"ARGV[1]\" // and KEYS[1]", []),
    ("let text = \"\"\"\n    ARGV[1]\n    \\(parts[1])\n    \"\"\"", [3]),
    ("let head = bytes[..<4]", [1]),
    ("guard bytes.count >= 4 else { return }\nlet head = bytes[..<4]", []),
    ("let rest = parts[2...]", [1]),
    ("let first = rows.first!", [1]),
    ("let value = table[name]!", [1]),
    ("if rows.first != nil { return }", []),
    ("// In bounds: a digest has 32 bytes.\nlet first = digest[0]\nlet second = digest[1]\n\nlet third = digest[2]", [5]),
    ("let body = Array(bytes[..<4])\nuse(body[..<4], body[4])", [1, 2]),
    ("for value in [1] { use([0]) }\nreturn [2]", []),
    ("guard bytes.count == Self.length else { return }\nuse(bytes[5])", []),
]


def test():
    """What the samples show to be wrong with the rule."""
    for code, expected in SAMPLES:
        found = [line for line, _ in unchecked(code)]
        if found != expected:
            yield f"found {found} instead of {expected} in the sample:\n{code}"
