"""Random object graphs come back with all their bits, whatever their parts are called and however they are tied."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agog_checkpoint import Checkpoint, NumpyState, PythonState
from agog_checkpoint.objects import walk
from agog_core import Checkpointable, Variable
from agog_core.dtypes import as_dtype
from agog_core.random import Generator

SEEDS = int(os.environ.get("AGOG_RANDOM_GRAPHS", "25"))
DTYPES = ["float32", "float64", "int32", "int8", "uint8", "bool", "complex64", "bfloat16", "float16", "int64"]
PLAIN = ["a", "b", "kernel", "0", "1", "v1.0", "a" * 300]
ODD = ["a/b", ".slot", ".state", "..", "", " ", "\n", "%", "%2F", "*", "?", "[a]", "__metadata__", "é", "☃", "\ud800"]
NAMES = PLAIN + ODD


class Part(Checkpointable):
    """A plain object."""


class Text(PythonState):
    """State that is a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def serialize(self) -> str:
        return self.text

    def deserialize(self, string_value: Any) -> None:
        self.text = string_value


class Graph:
    """A graph that a seed describes: the same parts each time, with the values of the seed or with none.

    Objects in attributes are attached by `attachments`, in any order; lists, tuples and dicts come with what they hold.
    """

    def __init__(self, seed: int, filled: bool) -> None:
        self.random = random.Random(seed)
        self.filled = filled
        self.values = np.random.default_rng(seed)
        self.leaves: list[Any] = []
        self.owners: list[Any] = []
        self.attachments: list[tuple[Any, str, Any]] = []
        self.root = Part()
        self._fill(self.root, 3)

    def attached(self) -> Graph:
        for owner, name, part in self.attachments:
            setattr(owner, name, part)
        return self

    def _fill(self, owner: Any, depth: int) -> None:
        self.owners.append(owner)
        for name in self.random.sample(NAMES, self.random.randint(1, 4)):
            self.attachments.append((owner, name, self._part(depth)))

    def _part(self, depth: int) -> Any:
        kinds = ["variable"] * 4 + ["shared", "cycle", "numpy", "text", "generator"]
        kind = self.random.choice(kinds + ["object", "list", "tuple", "dict"] * (depth > 0))
        if kind == "object":
            self._fill(part := Part(), depth - 1)
            return part
        if kind in ("list", "tuple"):
            parts = [self._part(depth - 1) for _ in range(self.random.randint(1, 3))]
            return parts if kind == "list" else tuple(parts)
        if kind == "dict":
            return {name: self._part(depth - 1) for name in self.random.sample(NAMES, self.random.randint(1, 3))}
        if kind == "shared" and self.leaves:
            return self.random.choice(self.leaves)
        if kind == "cycle":
            return self.random.choice(self.owners)
        leaf = self._leaf(kind)
        self.leaves.append(leaf)
        return leaf

    def _leaf(self, kind: str) -> Any:
        number = self.random.randrange(1000)
        if kind == "text":
            return Text(f"text {number}" if self.filled else "")
        if kind == "generator":
            return Generator(number if self.filled else 0)
        shape = self.random.choice([(), (1,), (0,), (2, 3), (5, 0, 2), (17,), (150, 150)])
        array = self.values.integers(0, 2**8, shape, np.uint8)
        if kind == "numpy":
            state = NumpyState()
            state.array = array if self.filled else np.zeros(1)
            return state
        dtype = as_dtype(self.random.choice(DTYPES)).numpy_dtype
        return Variable((array if self.filled else np.zeros(shape)).astype(dtype))

    def bits(self) -> list[Any]:
        return [bits(leaf) for leaf in self.leaves]


def bits(leaf: Any) -> Any:
    if isinstance(leaf, Variable):
        return leaf.dtype.name, leaf.numpy().tobytes()
    if isinstance(leaf, NumpyState):
        return leaf.array.dtype, leaf.array.shape, leaf.array.tobytes()
    return leaf.checkpoint_state()


@pytest.fixture(params=["plain", "sharded", "asynchronous", "sharded asynchronous"])
def how(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {
        "max_shard_bytes": 10_000 if "sharded" in request.param else None,
        "asynchronous": "asynchronous" in request.param,
    }


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def saved(seed: int, folder: Any, **how: Any) -> tuple[Graph, str]:
    graph = Graph(seed, filled=True).attached()
    checkpoint = Checkpoint(root=graph.root)
    path = checkpoint.write(folder / "ckpt", **how)
    checkpoint.wait()
    return graph, path


def check_report(status: Any) -> None:
    matched, deferred, unmatched = status._restore.report()
    everything = [*matched, *deferred, *unmatched]
    assert sorted(everything) == sorted(status._restore._matches.labels.values())
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_all_at_once(seed, tmp_path, how):
    graph, path = saved(seed, tmp_path, **how)
    twin = Graph(seed, filled=False).attached()
    status = Checkpoint(root=twin.root).restore(path).assert_consumed().assert_existing_objects_matched()
    assert twin.bits() == graph.bits(), seed
    check_report(status)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_objects_that_come_later_in_any_order(seed, tmp_path):
    graph, path = saved(seed, tmp_path)
    twin = Graph(seed, filled=False)
    random.Random(seed).shuffle(twin.attachments)
    early = random.Random(seed).randrange(len(twin.attachments))
    for owner, name, part in twin.attachments[:early]:
        setattr(owner, name, part)
    status = Checkpoint(root=twin.root).restore(path)
    check_report(status)
    for owner, name, part in twin.attachments[early:]:
        setattr(owner, name, part)
        check_report(status)
    assert twin.bits() == graph.bits(), seed
    status.assert_consumed()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_group_under_another_name(seed, tmp_path):
    graph, path = saved(seed, tmp_path)
    twin = Graph(seed, filled=False).attached()
    Checkpoint(renamed=twin.root).restore(path, mapping={"renamed": "root"}).assert_consumed()
    assert twin.bits() == graph.bits(), seed


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("argument", ["only", "skip"])
def test_a_part(seed, tmp_path, argument):
    graph, path = saved(seed, tmp_path)
    twin = Graph(seed, filled=False).attached()
    empty = twin.bits()
    checkpoint = Checkpoint(root=twin.root)
    paths = {id(part.value): part.path for part in walk(checkpoint)[0]}
    variables = [leaf for leaf in twin.leaves if isinstance(leaf, Variable) and id(leaf) in paths]
    for chosen in random.Random(seed).sample(variables, min(3, len(variables))):
        for leaf in variables:
            leaf.assign(np.zeros(leaf.shape, leaf.dtype.numpy_dtype))
        check_report(checkpoint.restore(path, **{argument: paths[id(chosen)]}).expect_partial())
        before, after = next(
            (zero, bits(full))
            for leaf, zero, full in zip(twin.leaves, empty, graph.leaves, strict=True)
            if leaf is chosen
        )
        assert bits(chosen) == (after if argument == "only" else before), seed


def test_a_new_process(tmp_path):
    for seed in range(SEEDS):
        saved(seed, tmp_path / str(seed))
    program = (
        "import test_checkpoint_random_graphs as t, sys; from agog_checkpoint import Checkpoint\n"
        f"for seed in range({SEEDS}):\n"
        "    twin = t.Graph(seed, filled=False).attached()\n"
        f"    Checkpoint(root=twin.root).restore({str(tmp_path)!r} + f'/{{seed}}/ckpt').assert_consumed()\n"
        "    assert twin.bits() == t.Graph(seed, filled=True).bits(), seed\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=os.path.dirname(__file__))
