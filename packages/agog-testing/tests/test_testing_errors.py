"""`says`: which blocks it takes, and what it says of the others."""

from __future__ import annotations

import pytest

from agog_testing import says


def test_an_error_with_the_text_is_taken_and_given() -> None:
    with says(KeyError, "'a'") as caught:
        raise KeyError("a")
    assert caught.value.args == ("a",)


def test_an_error_of_a_subclass_or_of_one_of_several_classes_is_taken() -> None:
    with says(LookupError, "'a'"):
        raise KeyError("a")
    with says((ValueError, TypeError), "no"):
        raise TypeError("no")


@pytest.mark.parametrize("said", ["no dog.", "A no dog", "a", ""])
def test_another_text_fails_even_one_that_contains_the_text_or_matches_it(said: str) -> None:
    with pytest.raises(AssertionError) as caught, says(ValueError, "no dog"):
        raise ValueError(said)
    assert str(caught.value) == f"ValueError says\n  {said!r}\nand should say\n  'no dog'"


def test_the_text_is_no_pattern() -> None:
    with pytest.raises(AssertionError, match="and should say"), says(ValueError, "n. dog"):
        raise ValueError("no dog")


def test_an_error_of_another_class_goes_on() -> None:
    error = TypeError("no dog")
    with pytest.raises(TypeError) as caught, says(ValueError, "no dog"):
        raise error
    assert caught.value is error


def test_no_error_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"), says(ValueError, "no dog"):
        pass
