"""Docstrings: the parts that functions share, or that dtypes say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeVar

from agog_core.dtypes import ALL, DIFFERENTIABLE, FLOATING, INTEGERS, NUMERIC, ORDERED, DType, bool_

_ELEMENTS = {
    FLOATING: "floats",
    DIFFERENTIABLE: "floats or complex numbers",
    INTEGERS: "integers",
    ORDERED: "numbers",
    NUMERIC: "numbers",
}

_SECTIONS = ("Args", "Returns", "Raises")

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


def documented_like(other: Callable[..., Any], *sections: str) -> Callable[[F], F]:
    """Take what a docstring leaves out from a sibling's: arguments of the same names, and whole Returns and Raises.

    Args:
        other: the sibling, a function or a class.
        *sections: the sections to take; all if none is named.
    """

    def decorate(function: F) -> F:
        if function.__doc__ and other.__doc__:  # python -OO takes docstrings away
            before, own, after = _parted(function.__doc__)
            for section, text in _parted(other.__doc__)[1].items():
                if not sections or section in sections:
                    known = own.get(section, "")
                    own[section] = _merged(function, known, text) if section == "Args" else known or text
            written = [f"{section}:\n{own[section]}" for section in _SECTIONS if own.get(section)]
            function.__doc__ = "\n\n".join([*before, *written, *after])
        return function

    return decorate


def _parted(documentation: str) -> tuple[list[str], dict[str, str], list[str]]:
    """The paragraphs of a docstring before its sections, the sections, and the paragraphs after them."""
    before: list[str] = []
    sections: dict[str, str] = {}
    after: list[str] = []
    for paragraph in _cleaned(documentation).split("\n\n"):
        name, _, text = paragraph.partition(":\n")
        if name in _SECTIONS:
            sections[name] = text
        else:
            (after if sections or after or paragraph.startswith(">>> ") else before).append(paragraph)
    return before, sections, after


def _merged(function: Any, own: str, other: str) -> str:
    """An Args section with the entries of two for a function's parameters, in their order; its own entries go first."""
    called: Any = vars(function)["__init__"] if isinstance(function, type) else function
    names = _parameters(getattr(called, "__wrapped__", called).__code__)
    entries = {name: entry for name, entry in _entries(other).items() if name in names} | _entries(own)
    places = {name: place for place, name in enumerate(names)}
    return "\n".join(entries[name] for name in sorted(entries, key=lambda name: places.get(name, len(names))))


def _parameters(code: CodeType) -> tuple[str, ...]:
    """The names of a function's parameters; `inspect` takes milliseconds to import."""
    names, named = code.co_varnames, code.co_argcount
    end = named + code.co_kwonlyargcount  # behind it Python has *args, then **kwargs
    keywords = end + bool(code.co_flags & 0x04)
    return (
        names[:named] + names[end:keywords] + names[named:end] + names[keywords : keywords + bool(code.co_flags & 0x08)]
    )


def _entries(arguments: str) -> dict[str, str]:
    """The entries of an Args section by the first name of each, without the stars of ``*args``."""
    entries: dict[str, str] = {}
    name = ""
    for line in arguments.split("\n"):
        if line[4:5].strip():  # a line that is indented further goes on
            name = line.partition(":")[0].partition(",")[0].strip(" *")
            entries[name] = line
        elif entries:
            entries[name] += f"\n{line}"
    return entries


def _cleaned(text: str) -> str:
    """A docstring without indentation; `inspect` does it too, and takes milliseconds to import."""
    first, _, rest = text.partition("\n")
    margin = rest.lstrip("\n")
    indentation = margin[: len(margin) - len(margin.lstrip(" "))]
    return f"{first}\n{rest}".replace(f"\n{indentation}", "\n").strip()


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
