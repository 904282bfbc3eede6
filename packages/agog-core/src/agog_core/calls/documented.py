"""Documented: parts of docstrings that functions share, or that dtypes say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, TypeVar

from agog_core.dtypes import ALL, DIFFERENTIABLE, FLOATING, INTEGERS, NUMERIC, ORDERED, DType, bool_

_ELEMENTS = {
    FLOATING: "floats",
    DIFFERENTIABLE: "floats or complex numbers",
    INTEGERS: "integers",
    ORDERED: "numbers",
    NUMERIC: "numbers",
}

F = TypeVar("F", bound=Callable[..., Any])


def documented(sections: str, **words: str) -> Callable[[F], F]:
    """Put sections that several functions share, such as Args and Returns, into a docstring, before its example.

    ``{word}`` in the sections stands for what is given for it here.
    """

    def decorate(function: F) -> F:
        if function.__doc__:  # python -OO takes docstrings away
            sentence, prompt, example = _cleaned(function.__doc__).partition("\n>>> ")
            shared = _cleaned(sections).format(**words)
            function.__doc__ = f"{sentence.rstrip()}\n\n{shared}\n{prompt}{example}"
        return function

    return decorate


def _cleaned(text: str) -> str:
    """A docstring without indentation; `inspect` does it too, and takes milliseconds to import."""
    first, _, rest = text.partition("\n")
    return f"{first}\n{dedent(rest)}".strip()


def write_arguments(function: Callable[..., Any], *arguments: str) -> None:
    """Put an Args section before the Returns of a docstring that has none of its own."""
    before, returns, after = (function.__doc__ or "").partition("Returns:\n")
    if returns and "Args:\n" not in before:
        indentation = before[len(before.rstrip(" ")) :]
        lines = "".join(f"{indentation}    {each}\n" for each in arguments)
        function.__doc__ = f"{before}Args:\n{lines}\n{indentation}{returns}{after}"


def inputs_of(names: Sequence[str], dtypes: frozenset[DType]) -> str:
    """What an Args section says of inputs that broadcast, or of one input, by the dtypes of their op."""
    elements = _ELEMENTS.get(dtypes) or " or ".join(sorted(dtype.name for dtype in dtypes))
    kind = "bool tensors" if dtypes == {bool_} else "tensors" if dtypes == ALL else f"tensors of {elements}"
    if len(names) == 1:
        return f"{names[0]}: a {kind.replace('tensors', 'tensor')}."
    of_one = "" if dtypes == {bool_} else " of one dtype" if dtypes == ALL else ", of one dtype,"
    return f"{', '.join(names)}: {kind}{of_one} whose shapes broadcast."
