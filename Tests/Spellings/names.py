"""Compares the names that are called in Sources/Names with those listed in `names`, and prints how many there are.

Fails when a listed name has no call, when a call is not listed, when one is listed or counted twice, and when a group says a
name that its calls do not contain.
"""

import pathlib
import re
import sys


def groups(path):
    """The names of each group of a file, with the code that calls them."""
    text = path.read_text()
    found = []
    for match in re.finditer(r'(?<!func )\bgroup\(((?:\s*"[^"]*",?)+)\s*\)\s*\{', text):
        position, depth = match.end(), 1
        while depth:
            if text[position] == '"':
                position = text.index('"', position + 1)
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            position += 1
        body = text[match.end() : position - 1]
        # What is deprecated is called beside its group, in a function that is deprecated as well.
        found.append((re.findall(r'"([^"]*)"', match.group(1)), body if body.strip() else text))
    if len(found) != len(re.findall(r"(?<!func )\bgroup\(", text)):
        sys.exit(f"{path}: a group whose names cannot be read")
    return found


def words(name):
    """What a call of a name contains: its last part and its labels, or its operator."""
    operator = re.match(r"^\w+ ([=!<>&|+*/-]+=?)$", name)
    if operator:
        return [re.escape(operator.group(1))]
    plain = re.split(r" (?:of|form|async|where|literals?|count)\b", name)[0]
    base, _, labels = plain.partition("(")
    base = base.split(": ")[0].split(".")[-1].split()[-1].lstrip("@")
    needed = [] if base in ("init", "subscript", "Query") else [rf"\b{base}\b"]
    if not re.search(r"subscript|: (?:Query|Object|Sequence|List|Map|Results|RealmCollection|Projection)", labels):
        needed += [rf"\b{label}:" for label in re.findall(r"(\w+):", labels) if label not in ("_", "dynamicMember")]
    return needed


folder = pathlib.Path(__file__).parent
listed = [line for line in (folder / "names").read_text().splitlines() if line and not line.startswith("#")]
called, problems = [], []
sources = sorted((folder / "Sources/Names").glob("*.swift"))
everything = "\n".join(path.read_text() for path in sources)
for path in sources:
    for names, body in groups(path):
        called += names
        for name in names:
            for word in words(name):
                # Types and protocols are declared with in another file.
                scope = everything if re.match(r"\\b[A-Z_]\w*\\b$", word) else body
                if not re.search(word, re.sub(r'group\((?:\s*"[^"]*",?)+\s*\)', "", scope)):
                    problems.append(f"{path.name}: '{name}' is said to be called, and {word} is not there")
for names, what in ((called, "counted"), (listed, "listed")):
    problems += [f"{what} twice: {name}" for name in sorted({name for name in names if names.count(name) > 1})]
problems += [f"listed without a call: {name}" for name in listed if name not in called]
problems += [f"called and not listed in Tests/Spellings/names: {name}" for name in called if name not in listed]
if problems:
    sys.exit("\n".join(problems))
print(len(called))
