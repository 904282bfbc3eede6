"""Variable scopes that are entered again inside of others: names and counts are those of TensorFlow 1.12's rules.

A layer of ``tf.layers`` is named within the innermost variable scope, whatever scopes of names there are, and by how
often the name was taken there. A scope object that is entered again leaves the counts as they were before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import agog_core as ag
from agog_core.variables.name_scope import reset_names
from agog_layers.tf_layers.layers import Dense
from agog_layers.tf_layers.variable_scope import get_variable, get_variable_scope, variable_scope


@pytest.fixture(autouse=True)
def _names_begin_anew() -> Iterator[None]:
    reset_names()
    yield
    reset_names()


def made() -> str:
    """The name of a new layer's kernel, less its end."""
    layer: Any = Dense(1)
    layer(ag.ones([1, 1]))
    name: str = layer.kernel.name
    return name.removesuffix("/kernel:0")


def test_the_root_inside_of_another_scope() -> None:
    root = get_variable_scope()
    assert made() == "dense"
    with variable_scope("a"):
        assert made() == "a/dense"
        with variable_scope(root) as again:
            assert (again.name, get_variable("v", [1]).name) == ("", "v:0")
            assert [made(), made()] == ["dense_1", "dense_2"]
            with variable_scope("b"):
                assert [made(), get_variable("v", [1]).name] == ["b/dense", "b/v:0"]
            with variable_scope(None, default_name="c") as inner:
                assert (inner.name, made()) == ("c", "c/dense")
        assert made() == "a/dense_1"
        with variable_scope(root):
            assert made() == "dense_1"
    assert made() == "dense_1"
    with variable_scope(None, default_name="c") as inner:
        assert inner.name == "c"
    with variable_scope("a"):
        assert made() == "a/dense"


def test_another_scope_inside_of_one() -> None:
    with variable_scope("a") as first:
        assert made() == "a/dense"
    with variable_scope("c"):
        for _ in range(2):
            with variable_scope(first):
                assert [made(), made()] == ["a/dense", "a/dense_1"]
                assert get_variable("v", [1]).name == "a/v:0"
        assert made() == "c/dense"


def test_the_root_by_an_empty_name_goes_on_counting() -> None:
    assert made() == "dense"
    with variable_scope(""):
        assert made() == "dense_1"
    assert made() == "dense_2"


def test_scopes_of_names_alone_name_no_layers() -> None:
    with ag.name_scope("names"):
        assert made() == "dense"
        with variable_scope("a"):
            assert made() == "a/dense"
            assert ag.Variable(1.0, name="v").name == "names/a/v:0"
