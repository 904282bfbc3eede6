"""App: programs start with their main function."""

from __future__ import annotations

import sys

import pytest
from absl import flags

from agog_compat.app import run


def test_programs_start_with_their_main_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "absl.flags", raising=False)
    seen: list[list[str]] = []
    with pytest.raises(SystemExit) as ended:
        run(lambda arguments: seen.append(arguments) or 3, ["program", "a"])
    assert (ended.value.code, seen) == (3, [["program", "a"]])
    monkeypatch.setattr(sys, "argv", ["program", "b"])
    monkeypatch.setattr(sys.modules["__main__"], "main", seen.append, raising=False)
    with pytest.raises(SystemExit) as ended:
        run()
    assert (ended.value.code, seen[1]) == (None, ["program", "b"])


def test_flags_of_absl_are_taken_out_of_the_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = flags.FlagValues()
    flags.DEFINE_integer("steps", 10, "How many.", flag_values=values)
    monkeypatch.setattr(flags, "FLAGS", values)
    with pytest.raises(SystemExit) as ended:
        run(lambda rest: (values.steps, rest), ["program", "--steps=7", "--unknown", "file"])
    assert ended.value.args == (7, ["program", "--unknown", "file"])
    for option in ("--help", "-h", "--helpfull"):
        with pytest.raises(SystemExit) as ended:
            run(lambda rest: 5, ["program", option])
        assert ended.value.code == 0
        assert "--steps: How many.\n    (default: '10')\n" in capsys.readouterr().out
    flags.DEFINE_boolean("help", False, "The program's own.", values)
    with pytest.raises(SystemExit) as ended:
        run(lambda rest: (values.help, rest), ["program", "--help"])
    assert ended.value.args == (True, ["program"])
