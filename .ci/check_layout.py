"""Checks how the code is laid out, where ruff has no rule for it: `make check` runs it.

CONTRIBUTING.md gives the rules in words. Needs nothing but Python.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeGuard

from check_words import ROOT, tracked

MAX_COLUMNS: Final = 88
ONE_A_LINE_FROM: Final = 3
BOUND: Final = ("self", "cls")
ADVICE: Final = {
    "packed": "assign one name a line; a tuple only unpacks or swaps",
    "nested": "write a choice within a choice as `if`",
    "twofold": "write a comprehension with two `for` as a loop or a helper",
    "tuples": "assert one thing a line, not two tuples",
    "crowded": "give each parameter or argument a line if one line does not hold all",
    "abreast": "give each of three parameters or named arguments a line",
    "wide": f"a line of code has at most {MAX_COLUMNS} columns",
}
"""Each rule, and what to write instead."""
PENDING: Final = {
    "wide": ("emulator/image_workflow_emulator/server/connection.py", "tests/"),
}
"""Where a rule does not hold yet, by the beginning of the path. Entries only go."""


class Offence(NamedTuple):
    """A place that breaks a rule."""

    line: int
    rule: str


def offences(source: str) -> Iterator[Offence]:
    """Yield what breaks a rule in the text of a Python file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr) and (rule := rule_broken_by(node)):
            yield Offence(node.lineno, rule)
    lines = source.splitlines()
    for number in sorted(code_lines(source, tree)):
        if len(lines[number - 1]) > MAX_COLUMNS:
            yield Offence(number, "wide")


def rule_broken_by(node: ast.AST) -> str:
    """Return the name of the rule that a node breaks, or nothing."""
    if isinstance(node, ast.Assign) and is_packed(node):
        return "packed"
    if isinstance(node, ast.IfExp) and holds_another_choice(node):
        return "nested"
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return "twofold" if len(node.generators) > 1 else ""
    if isinstance(node, ast.Assert) and compares_tuples(node.test):
        return "tuples"
    if isinstance(node, ast.Call):
        return rule_broken_by_call(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return rule_broken_by_signature(node)
    return ""


def rule_broken_by_call(call: ast.Call) -> str:
    """Return the rule that the arguments of a call break, or nothing."""
    opening = call.func.end_lineno
    if is_crowded([*call.args, *call.keywords], opening):
        return "crowded"
    return "abreast" if are_abreast(call.keywords) else ""


def rule_broken_by_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the rule that the parameters of a function break, or nothing."""
    every = parameters(function.args)
    if is_crowded(every, function.lineno):
        return "crowded"
    named = [parameter for parameter in every if parameter.arg not in BOUND]
    return "abreast" if are_abreast(named) else ""


def is_packed(node: ast.Assign) -> bool:
    """Tell whether a statement gives several values to several names, and no swap."""
    target = node.targets[0]
    value = node.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return False
    names = {ast.unparse(name) for name in target.elts}
    return names != {ast.unparse(part) for part in value.elts}


def holds_another_choice(choice: ast.IfExp) -> bool:
    """Tell whether one `x if c else y` is within another."""
    return any(
        isinstance(inner, ast.IfExp)
        for inner in ast.walk(choice)
        if inner is not choice
    )


def compares_tuples(test: ast.expr) -> bool:
    """Tell whether a comparison puts several values into tuples on both of its sides."""
    if not isinstance(test, ast.Compare):
        return False
    sides = (test.left, *test.comparators)
    return all(isinstance(side, ast.Tuple) and len(side.elts) > 1 for side in sides)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return the parameters of a function."""
    starred = filter(None, (arguments.vararg, arguments.kwarg))
    return [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        *starred,
    ]


def is_crowded(
    items: Sequence[ast.expr | ast.keyword | ast.arg],
    opening: int | None,
) -> bool:
    """Tell whether several items share a line that is not the one they open on."""
    lines = {item.lineno for item in items}
    return len(items) > 1 and len(lines) == 1 and opening not in lines


def are_abreast(items: Sequence[ast.keyword | ast.arg]) -> bool:
    """Tell whether three items or more stand on one line."""
    lines = {item.lineno for item in items}
    return len(items) >= ONE_A_LINE_FROM and len(lines) == 1


def code_lines(source: str, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that hold code.

    Comments, docstrings and other texts of several lines are no code.
    """
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_code = token.type != tokenize.COMMENT and token.string.strip()
        if is_code and token.start[0] == token.end[0]:
            code.add(token.start[0])
    return code - {node.lineno for node in ast.walk(tree) if is_docstring(node)}


def is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Tell whether a node is a text that stands by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_pending(file: str, rule: str) -> bool:
    """Tell whether a rule does not hold yet in a file."""
    return file.startswith(PENDING.get(rule, ()))


def main() -> int:
    """Print the offences, and return 1 if there are any."""
    complaints = []
    for file in tracked("*.py"):
        source = (ROOT / file).read_text(encoding="utf-8")
        for line, rule in offences(source):
            if not is_pending(file, rule):
                complaints.append(f"{file}:{line}: {ADVICE[rule]}")
    print("\n".join(complaints) or "The layout is plain.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
