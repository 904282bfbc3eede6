"""Shrinking: a failing program is shortened while it keeps its kind of difference."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from typing import Any

from agog_testing.random_programs.comparison import Difference, difference_of, outcome

_NOT_PROGRAMS = ("NameError", "UnboundLocalError", "SyntaxError", "AttributeError")


def reduced(source: str, found: Difference, seconds: float = 60.0) -> tuple[str, Difference]:
    """A shorter program that differs in the same way.

    Args:
        source: of a program that differs.
        found: how.
        seconds: how long to try.

    Returns:
        Its source, and how it differs.
    """
    end = time.monotonic() + seconds
    tree, has_changed = ast.parse(source), True
    while has_changed and time.monotonic() < end:
        has_changed = False
        count = sum(1 for _ in _changes(tree))
        place = 0
        while place < count and time.monotonic() < end:
            other = ast.parse(ast.unparse(tree))
            change = next((each for n, each in enumerate(_changes(other)) if n == place), None)
            if change is None:
                break
            change()
            text = ast.unparse(ast.fix_missing_locations(other))
            difference = _differs(text, found.kind)
            if difference is None:
                place += 1
            else:
                tree, found, has_changed = ast.parse(text), difference, True
                count = sum(1 for _ in _changes(tree))
    return ast.unparse(tree), found


def _differs(text: str, kind: str) -> Difference | None:
    try:
        difference = difference_of(text)
    except Exception:
        return None
    if difference is None or difference.kind != kind:
        return None
    errors = [each[2][0] for each in outcome(text, True) if each[0] == "error"]
    return None if any(name in _NOT_PROGRAMS for name in errors) else difference


def _changes(tree: ast.Module) -> Iterator[Any]:
    """Ways to shorten a program, largest parts first: each a function that changes the tree."""
    blocks = [
        (node, field)
        for node in ast.walk(tree)
        for field in ("body", "orelse", "handlers", "finalbody")
        if isinstance(getattr(node, field, None), list)
    ]
    for node, field in blocks:
        statements = getattr(node, field)
        for place in reversed(range(len(statements))):
            if not isinstance(statements[place], ast.Pass):
                yield lambda s=statements, p=place: _drop(s, p)
    for node, field in blocks:
        statements = getattr(node, field)
        for place, statement in enumerate(statements):
            inside = getattr(statement, "body", None)
            if isinstance(inside, list) and not isinstance(statement, ast.FunctionDef):
                yield lambda s=statements, p=place, i=inside: s.__setitem__(slice(p, p + 1), i)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.Return)) and node.value is not None:
            for name in _names(node.value):
                if not isinstance(node.value, ast.Name):
                    yield lambda n=node, v=name: setattr(n, "value", ast.Name(v, ast.Load()))
        if isinstance(node, (ast.Assign, ast.Return, ast.Expr)) and node.value is not None:
            for part in _parts(node.value):
                yield lambda n=node, v=part: setattr(n, "value", v)
        if isinstance(node, ast.Call) and node.keywords:
            yield lambda n=node: n.keywords.pop()
        if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load) and _is_of_several(node):
            for place in range(len(node.elts)):
                yield lambda n=node, p=place: n.elts.pop(p)


def _is_of_several(node: ast.List | ast.Tuple) -> bool:
    return len(node.elts) > 1 and not all(isinstance(each, ast.Constant) for each in node.elts)


def _drop(statements: list[Any], place: int) -> None:
    statements[place : place + 1] = [] if len(statements) > 1 else [ast.Pass()]


def _names(node: ast.AST) -> list[str]:
    found = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return [name for name in dict.fromkeys(found) if name not in ("tf", "np", "train", "data")]


def _parts(node: ast.expr) -> list[ast.expr]:
    """The operands of an expression."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return [each for each in node.args if not isinstance(each, (ast.Constant, ast.Starred))][:2]
    return []
