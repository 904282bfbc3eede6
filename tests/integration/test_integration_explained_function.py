"""`agog explain --function`: what runs each op of a traced function of a program's."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agog.commands.explain import explain
from agog_testing.compilers import compilers_in_use

PROGRAM = """
import agog as tf

@tf.function
def never_called(x):
    return tf.exp(x)

@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def signed(x):
    return tf.matmul(x, x, transpose_b=True)

class Model:
    variable = None

    def call(self, x, n):
        if Model.variable is None:
            Model.variable = tf.Variable([1.0, 2.0])
        return tf.gather(x * Model.variable, n)

class Models:
    call = tf.function(Model().call)

called = tf.function(lambda x: tf.exp(x))
called(tf.ones([2]))
called(tf.ones([3]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the program, in which no compiler is there."""
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "program", raising=False)
    with compilers_in_use():
        yield tmp_path
    sys.modules.pop("program", None)


def test_explain_of_a_traced_function(folder: Path) -> None:
    def explained(*arguments: str) -> list[str]:
        done = CliRunner().invoke(explain, ["--function", *arguments])
        assert done.exit_code == 0
        return [re.sub(r" +", " ", text) for text in done.output.replace(str(folder), "FOLDER").splitlines()]

    def place(code: str) -> str:
        return f"FOLDER/program.py:{1 + next(n for n, text in enumerate(PROGRAM.splitlines()) if code in text)}"

    head = [
        "compilers of traced functions on device 'cpu':",
        " none: each step runs by the functions of the array library",
        "op line what runs it",
    ]
    exp = f"exp {place('lambda')} numpy.exp: no compiler is there"
    assert explained("program:called") == [
        *("trace 1: the first call: float32 (2,)", *head, exp, ""),
        *("trace 2: arguments of another kind: float32 (3,)", *head, exp),
    ]
    assert explained("program:signed") == [
        *("trace 1: the first call: float32 (1, 2)", *head),
        f"matmul {place('matmul')} a view, by transpose",
        f"matmul {place('matmul')} numpy.dot: compilers have no primitive for it",
    ]
    found = explained("program:Models.call", "--argument", "float32[3, 2]", "--argument", "int64[4]")
    assert found[0] == "trace 1: the call before has created variables: float32 (3, 2), int64 (4,)"
    assert found[-1] == f"gather {place('gather')} its kernel: Opaque: it looks at values"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["program:never_called"],
            "program:never_called has no trace: it was not called while its module was imported. Say what to call it "
            "with, such as --argument float32[32,784], once for each argument.",
        ),
        (["program"], "--function takes a module and a name, such as train:step; got 'program'."),
        (["programm:x"], "--function programm:x: No module named 'programm'"),
        (["program:x"], "--function program:x: module 'program' has no attribute 'x'"),
        (["program:Model"], "program:Model is no traced function, but a type; see tf.function."),
        (
            ["program:never_called", "--argument", "float32(2)"],
            "--argument takes a dtype and a shape, such as float32[32,784]; got 'float32(2)'.",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_explain_says_what_is_no_traced_function(arguments: list[str], error: str) -> None:
    done = CliRunner().invoke(explain, ["--function", *arguments])
    assert (done.exit_code, done.output.strip()) == (1, f"Error: {error}")
