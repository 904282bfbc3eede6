"""Sections of docstrings that several functions share."""

from __future__ import annotations

import inspect

import pytest

from agog_core.calls.docstrings import documented, documented_like, inputs_of, write_arguments
from agog_core.dtypes import ALL, DIFFERENTIABLE, FLOATING, INTEGERS, NUMERIC, ORDERED, DType, bool_, float32, float64

_SECTIONS = """
    Args:
        x: a tensor of {kind}.

    Returns:
        A tensor.
"""


@documented(_SECTIONS, kind="floats")
def with_example(x: float) -> float:
    """The number itself.

    >>> with_example(1.0)
    1.0
    """
    return x


@documented(_SECTIONS, kind="bools")
def without_example(x: bool) -> bool:
    """The bool itself."""
    return x


def test_sections_stand_between_the_sentence_and_the_example() -> None:
    assert inspect.getdoc(with_example) == (
        "The number itself.\n\nArgs:\n    x: a tensor of floats.\n\n"
        "Returns:\n    A tensor.\n\n>>> with_example(1.0)\n1.0"
    )


def test_sections_follow_a_sentence_without_an_example() -> None:
    assert inspect.getdoc(without_example) == (
        "The bool itself.\n\nArgs:\n    x: a tensor of bools.\n\nReturns:\n    A tensor."
    )


def test_function_stays_itself() -> None:
    assert with_example(2.0) == 2.0
    assert str(inspect.signature(with_example)) == "(x: 'float') -> 'float'"


def test_functions_without_docstrings_stay_without() -> None:
    def bare() -> None: ...

    assert documented(_SECTIONS, kind="floats")(bare).__doc__ is None


def add(x: float, y: float = 0.0, *others: float) -> float:
    """The sum.

    Args:
        x: a number
            of any size.
        y: another one.
        *others: more of them.

    Returns:
        A number.

    Raises:
        OverflowError: it is too large.

    >>> add(1.0, 2.0)
    3.0
    """
    return x + y + sum(others)


def test_a_sibling_gives_what_a_docstring_leaves_out() -> None:
    @documented_like(add)
    def multiply(x: float, times: int, *others: float, scale: float = 1.0) -> float:
        """The product.

        It has a limit.

        Args:
            times: how often.
            scale: a factor,
                for all.

        Returns:
            A product.

        >>> 2 * 3
        6

        And so on.
        """
        return x * times * scale

    assert inspect.getdoc(multiply) == (
        "The product.\n\nIt has a limit.\n\nArgs:\n    x: a number\n        of any size.\n    times: how often.\n"
        "    *others: more of them.\n    scale: a factor,\n        for all.\n\nReturns:\n    A product.\n\n"
        "Raises:\n    OverflowError: it is too large.\n\n>>> 2 * 3\n6\n\nAnd so on."
    )
    assert str(inspect.signature(multiply)).startswith("(x: 'float', times: 'int'")


def test_a_sibling_gives_no_more_than_the_sections_named() -> None:
    @documented_like(add, "Returns")
    def first(x: float) -> float:
        """The first number."""
        return x

    assert inspect.getdoc(first) == "The first number.\n\nReturns:\n    A number."


def test_a_class_takes_the_arguments_of_its_constructor() -> None:
    @documented_like(add, "Args")
    class Sum:
        """A sum that lasts."""

        def __init__(self, y: float, x: float) -> None:
            self.total = x + y

    assert Sum.__doc__ == "A sum that lasts.\n\nArgs:\n    y: another one.\n    x: a number\n        of any size."


def test_nothing_is_taken_from_or_by_what_has_no_docstring() -> None:
    def bare(x: float) -> None: ...

    assert documented_like(add)(bare).__doc__ is None
    assert documented_like(bare)(add).__doc__ == add.__doc__


def test_arguments_stand_before_what_is_returned() -> None:
    def function(x: float) -> float:
        """The number itself.

        Returns:
            ``x``.
        """
        return x

    write_arguments(function, "x: a tensor.", "axis: an axis.")
    assert inspect.getdoc(function) == (
        "The number itself.\n\nArgs:\n    x: a tensor.\n    axis: an axis.\n\nReturns:\n    ``x``."
    )


def test_arguments_that_are_there_stay() -> None:
    def function(x: float) -> float:
        """The number itself.

        Args:
            x: in radians.

        Returns:
            ``x``.
        """
        return x

    write_arguments(function, "x: a tensor.")
    assert inspect.getdoc(function) == "The number itself.\n\nArgs:\n    x: in radians.\n\nReturns:\n    ``x``."


@pytest.mark.parametrize("docstring", [None, "One sentence."])
def test_no_arguments_without_what_is_returned(docstring: str | None) -> None:
    def function() -> None: ...

    function.__doc__ = docstring
    write_arguments(function, "x: a tensor.")
    assert function.__doc__ == docstring


@pytest.mark.parametrize(
    ("dtypes", "of_one", "of_two"),
    [
        (FLOATING, "x: a tensor of floats.", "x, y: tensors of floats, of one dtype, whose shapes broadcast."),
        (
            DIFFERENTIABLE,
            "x: a tensor of floats or complex numbers.",
            "x, y: tensors of floats or complex numbers, of one dtype, whose shapes broadcast.",
        ),
        (INTEGERS, "x: a tensor of integers.", "x, y: tensors of integers, of one dtype, whose shapes broadcast."),
        (ORDERED, "x: a tensor of numbers.", "x, y: tensors of numbers, of one dtype, whose shapes broadcast."),
        (NUMERIC, "x: a tensor of numbers.", "x, y: tensors of numbers, of one dtype, whose shapes broadcast."),
        (frozenset({bool_}), "x: a bool tensor.", "x, y: bool tensors whose shapes broadcast."),
        (ALL, "x: a tensor.", "x, y: tensors of one dtype whose shapes broadcast."),
        (
            frozenset({float64, float32}),
            "x: a tensor of float32 or float64.",
            "x, y: tensors of float32 or float64, of one dtype, whose shapes broadcast.",
        ),
    ],
)
def test_inputs_are_said_by_their_dtypes(dtypes: frozenset[DType], of_one: str, of_two: str) -> None:
    assert inputs_of(["x"], dtypes) == of_one
    assert inputs_of(["x", "y"], dtypes) == of_two
