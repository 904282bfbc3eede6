"""Exports: what packages of star imports offer, at once and later."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from agog_core.exports import Some, exported, later
from agog_testing import says


@pytest.fixture
def package() -> Iterator[Callable[..., ModuleType]]:
    """Makes a module out of its namespace and of what it imports later."""
    made = ModuleType("made_by_a_test")

    def make(namespace: dict[str, Any], **later_ones: Any) -> ModuleType:
        vars(made).update(namespace)
        vars(made)["__getattr__"], vars(made)["__dir__"] = later(made.__name__, **later_ones)
        return made

    sys.modules[made.__name__] = made
    yield make
    del sys.modules[made.__name__]


def test_modules_private_names_and_type_checking_are_not_exported() -> None:
    assert exported({"one": 1, "_two": 2, "math": math, "TYPE_CHECKING": False, "__name__": "x"}) == ["one"]


def test_a_package_offers_what_it_has_and_what_it_imports_later(package: Callable[..., ModuleType]) -> None:
    made = package({"one": 1}, modules={"numbers": "math"}, rooms=[Some("math", "pi", "tau"), "agog_core.shapes"])
    assert dir(made) == made.__all__ == ["Dimension", "TensorShape", "numbers", "one", "pi", "tau"]
    assert (made.numbers, made.pi) == (math, math.pi)
    assert vars(made)["pi"] == math.pi
    assert made.TensorShape is sys.modules["agog_core.shapes"].TensorShape


@pytest.mark.parametrize("name", ["e", "_private", "none_such"])
def test_an_unknown_name_is_an_attribute_error(package: Callable[..., ModuleType], name: str) -> None:
    with says(AttributeError, f"module 'made_by_a_test' has no attribute {name!r}"):
        getattr(package({}, rooms=[Some("math", "pi")]), name)


def test_a_room_is_imported_when_one_of_its_names_may_be_there(package: Callable[..., ModuleType]) -> None:
    made = package({}, rooms=[Some("no_such_module", "one"), Some("math", "pi")])
    assert (made.pi, dir(made)) == (math.pi, ["one", "pi"])
    with pytest.raises(ModuleNotFoundError):
        _ = made.one
