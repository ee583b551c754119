"""How many ways lead through a function: one, and one more for each `if`, `guard`, `for`, `while`, `repeat`, `catch`, `case`,
`&&`, `||`, `??` and `? :` in its body.
"""
import re

HEAD = re.compile(r"\b(?:func\s+[\w=<>+\-*/!&|]+|(?<!\.)init[?!]?|subscript)\s*(?:<[^>{]*>)?\s*\(")
BRANCH = re.compile(r"\b(?:if|guard|for|while|repeat|catch)\b|\bcase\b(?!\s+\.?\w+[^:\n]*=\s)|&&|\|\||\?\?| \? ")


def code(text):
    """The text without comments and the content of literals, line by line as before."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(r'"""(.|\n)*?"""', lambda found: '""' + "\n" * found[0].count("\n"), text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def closing(text, start, left, right):
    """Where what opens at a place is closed."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == left) - (text[place] == right)
        if depth == 0:
            return place
    return len(text)


def functions(text):
    """(line, name, complexity) of each function with a body."""
    text = code(text)
    for head in HEAD.finditer(text):
        end = closing(text, head.end() - 1, "(", ")")
        start = text.find("{", end)
        if start < 0 or re.search(r"\n\s*\n|\}", text[end:start]):
            continue
        body = text[start:closing(text, start, "{", "}")]
        yield text.count("\n", 0, head.start()) + 1, head[0].split("(")[0].split("<")[0].strip(), 1 + len(BRANCH.findall(body))


def test():
    """What is wrong with the rule itself: a sample whose complexity is known."""
    sample = "func a(_ b: Int) -> Int {\n    if b > 0 && b < 9 { return b }\n    switch b {\n    case 1: return 2\n    default: return b ?? 3\n    }\n}\n"
    found = list(functions(sample))
    return [] if found == [(1, "func a", 5)] else [f"complexity.py finds {found} in its sample"]
