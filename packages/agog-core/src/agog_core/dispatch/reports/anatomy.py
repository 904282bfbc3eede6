"""Anatomy: one op with its inputs, its attributes and their types, and the rules of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.kernels.candidates import candidates_of_all_ops, load_kernel
from agog_core.dispatch.op import Op, all_ops
from agog_core.dispatch.reports.glossary import meaning
from agog_core.dispatch.reports.inventory import first_sentence, grouped, inventory
from agog_core.dtypes import DType

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.contract import Kernel


def anatomy(name: str) -> str:
    """All that is known of an op, as a text.

    >>> print(anatomy("gather").rpartition("\\n")[0])
    gather: Pick slices of a tensor along an axis.
    inputs:
      params: differentiable; a tensor of rank at least 1.
      indices: of its own dtype; positions on the axis, int32 or int64, of any shape.
    attributes:
      axis: int; the axis.
    result: of the dtype of params
    effect: none
    elementwise: no
    fails: for some values
    dtypes: all
    """
    brought = [candidate.kernel for candidate in candidates_of_all_ops().get(name, [])]  # first: plugins bring ops too
    op = all_ops()[name]
    said = arguments(op.function)
    star = "*" if op.variadic else ""
    inputs = [_line(star + each, _facts(op, each), said.get(each)) for each in op.inputs]
    own = [
        _line(
            each, [kind, *(["another in each call"] if each in op.late else [])], said.get(each) or meaning(name, each)
        )
        for each, kind in attributes(op, brought).items()
    ]
    kernels = next(entry.kernels for entry in inventory() if entry.name == name)
    lines = [
        f"{name}: {first_sentence(op.function)}",
        *_explanation(op.function),
        *(["inputs:", *inputs] if inputs else ["inputs: none"]),
        *(["attributes:", *own] if own else ["attributes: none"]),
        f"result: {_result(op)}",
        f"effect: {op.effect}",
        f"elementwise: {'yes' if op.elementwise else 'no'}",
        *([f"fails: for some values{_of(op)}"] if op.may_fail else []),
        f"dtypes: {', '.join(grouped(op.dtypes))}",
        f"kernels: {', '.join(kernels) or 'none'}",
    ]
    return "\n".join(lines)


def attributes(op: Op, kernels: Iterable[Kernel]) -> dict[str, str]:
    """The attributes of an op with their types, by the signature of the first of its kernels that has a full one."""
    for kernel in sorted(kernels, key=lambda kernel: kernel.priority):
        try:
            parameters = list(inspect.signature(load_kernel(kernel), eval_str=True).parameters.values())
        except Exception:  # a function of a library in C may have no signature, and a broken one tells nothing
            continue
        after = [] if op.variadic else parameters[len(op.inputs) :]
        own = [each for each in parameters if each.kind is each.KEYWORD_ONLY or each in after]
        if all(
            each.annotation is not each.empty and each.kind is not each.VAR_KEYWORD for each in (*own, *parameters[-1:])
        ):
            return {each.name: "str" if each.name == "dtype" else _type(each.annotation) for each in own}
    return {}


def _type(annotation: Any) -> str:
    return annotation.__name__ if type(annotation) is type else str(annotation).replace("typing.", "")


def _facts(op: Op, name: str) -> list[str]:
    position = op.inputs.index(name)
    facts = {
        "differentiable": name in op.differentiable_inputs,
        "updated in place": name in op.updates,
        "of its own dtype": position not in op.alike,
        "decides sizes of the result by its values": name in op.host_reads,
    }
    return [fact for fact, is_so in facts.items() if is_so]


def _of(op: Op) -> str:
    return "" if op.may_fail == op.dtypes else f" of {', '.join(grouped(op.may_fail))}"


def _result(op: Op) -> str:
    if op.updates:
        return "none: it updates variables"
    if isinstance(op.dtype, DType):
        return f"of dtype {op.dtype.name}"
    if op.dtype is not None:
        return "of a dtype that follows from the inputs' or from an attribute"
    return f"of the dtype of {op.inputs[op.alike[0]]}" if op.inputs else "of the dtype that is asked for"


def _line(name: str, facts: list[str], said: str | None) -> str:
    return f"  {name}: {'; '.join([*facts, *([said] if said else [])])}".removesuffix(": ")


def _explanation(function: Any) -> Iterator[str]:
    """What a docstring says behind its first sentence and before its sections, indented."""
    documentation = (inspect.getdoc(function) or "").replace("``", "`").replace("::\n", ":\n")
    paragraphs = re.split(r"^(?:>>> |\w+:$)", documentation, maxsplit=1, flags=re.MULTILINE)[0].split("\n\n")[1:]
    for line in "\n".join(paragraphs).splitlines():
        if line:
            yield f"  {line}"


def arguments(function: Any) -> dict[str, str]:
    """What a docstring says of each argument, as one line."""
    section = re.search(
        r"^Args:\n(.*?)(?:\n\n|\Z)", (inspect.getdoc(function) or "").replace("``", "`"), re.DOTALL | re.M
    )
    entries = re.split(r"^    (?=\w)", section[1], flags=re.MULTILINE) if section else []
    pairs = (entry.partition(":") for entry in entries if ":" in entry)
    return {each: " ".join(text.split()) for names, _, text in pairs for each in names.split(", ")}
