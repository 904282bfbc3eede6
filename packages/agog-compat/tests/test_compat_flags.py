"""Flags: those of absl, with what TensorFlow 1 adds to them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import absl.flags
import pytest

from agog_compat import flags


@pytest.fixture
def values() -> Any:
    own = absl.flags.FlagValues()
    flags.DEFINE_string("name", "none", "A name.", own)
    flags.DEFINE_integer(flag_name="steps", default_value=10, docstring="How many.", flag_values=own)
    flags.DEFINE_float("rate", None, "How fast.", flag_values=own)
    flags.DEFINE_bool("fast", default_value=False, docstring="Whether to hurry.", flag_values=own)
    flags.DEFINE_list("layers", "a,b", "Which.", own)
    flags.DEFINE_enum("mode", "train", ["train", "test"], "What to do.", own)
    return flags._Flags(own)


def test_all_spellings(values: Any) -> None:
    line = ["program", "--name=a=b", "-steps", "0x10", "--rate", "-1.5", "x", "--fast", "--layers=c, d", "--mode=test"]
    assert values([*line, "-", "--", "--y"]) == ["program", "x", "-", "--y"]
    assert values.flag_values_dict() == {
        "name": "a=b",
        "steps": 16,
        "rate": -1.5,
        "fast": True,
        "layers": ["c", "d"],
        "mode": "test",
    }
    values(["program", "--nofast", "--layers="])
    assert (values.fast, values.layers) == (False, [])
    values(["program", "--fast=True"])
    assert values.fast is True


def test_the_first_read_takes_the_command_line(values: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["program", "--steps=3", "--unknown=4"])
    assert not values.is_parsed()
    assert (values.steps, values.name, values.is_parsed()) == (3, "none", True)
    monkeypatch.setattr(sys, "argv", ["program", "--steps=4"])
    assert values.steps == 3
    values.steps = 5
    assert (values.steps, values["steps"].value, values["steps"].default) == (5, 5, 10)
    assert ("steps" in values, "none" in values, len(values), set(values) & {"name"}) == (True, False, 6, {"name"})


def test_flags_that_do_not_exist(values: Any) -> None:
    text = "There is no flag 'nothing'; define it with tf.flags.DEFINE_string or its like."
    with pytest.raises(AttributeError) as read:
        values.nothing  # noqa: B018  # reading it raises
    with pytest.raises(AttributeError) as written:
        values.nothing = 1
    assert (str(read.value), str(written.value)) == (text, text)


def test_errors_are_those_of_absl(values: Any) -> None:
    with pytest.raises(flags.UnrecognizedFlagError, match=r"^Unknown command line flag 'nam'\. Did you mean: name"):
        values(["program", "--nam=a"])
    with pytest.raises(flags.IllegalFlagValueError, match=r"^flag --steps=1\.5: invalid literal for int"):
        values(["program", "--steps=1.5"])
    with pytest.raises(flags.DuplicateFlagError, match=r"^The flag 'name' is defined twice\. "):
        flags.DEFINE_integer("name", 0, "", flag_values=vars(values)["_values"])
    flags.mark_flag_as_required("rate", vars(values)["_values"])
    with pytest.raises(flags.IllegalFlagValueError, match=r"Flag --rate must have a value other than None\.$"):
        values(["program"])
    values(["program", "--rate=1"])
    assert (flags.Error, flags.DEFINE_multi_string) == (absl.flags.Error, absl.flags.DEFINE_multi_string)


def test_a_program_has_one_set_of_flags_with_absl() -> None:
    program = """
from absl import flags as own
from agog_compat import app, flags
flags.DEFINE_integer("steps", 10, "How many.")
own.DEFINE_string("log_dir", "here", "Where.")
app.run(lambda rest: print(own.FLAGS.steps, flags.FLAGS.log_dir, flags.FLAGS["steps"].default, rest))
"""
    arguments = ["--steps=3", "--unknown", "file"]
    ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout == "3 here 10 ['-c', '--unknown', 'file']\n"
    ran = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("\n-c:\n  --log_dir: Where.\n    (default: 'here')\n  --steps: How many.\n")
    assert "agog_compat" not in ran.stdout
