"""The command: what it prints, what it exits with, and what the plugin's own hook changes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from square_checks import CHECKS, COUNT, COUNT_OF_INT8

import agog_core as ag
from agog_core.plugin import Backend, Conformance, Kernel
from agog_kernels_xp.nn import lstm as lstm_kernels
from agog_testing import says
from agog_testing.conformance import ConformanceError, collect, command, main

Array = np.ndarray[Any, Any]


def zero(x: Array) -> Array:
    return np.asarray(np.square(x) * 0)


def square(fn: Callable[..., Any] = np.square, dtypes: tuple[str, ...] = ("float32",), **facts: Any) -> Kernel:
    return Kernel(op="square", device="cpu", fn=fn, dtypes=dtypes, **facts)


def recurrent(is_stamped: bool = True) -> list[Kernel]:
    """LSTM kernels whose reserve has one number more than that of others, at its end, which the gradient's looks at."""

    def forward(*arrays: Array, **attributes: Any) -> tuple[Array, ...]:
        *outputs, reserve = lstm_kernels.lstm(np, *arrays, **attributes)
        return *outputs, np.append(reserve, np.asarray(7 if is_stamped else 8, reserve.dtype))

    def backward(*arrays: Array, **attributes: Any) -> tuple[Array, ...]:
        *inputs, reserve = arrays
        if reserve[-1] != 7:
            raise ValueError("a stranger's reserve")
        shape = *inputs[2].shape[:2], 5 * len(inputs[4])
        return lstm_kernels.lstm_grad(np, *inputs, reserve[:-1].reshape(shape), **attributes)

    kernels = {"lstm": forward, "lstm_grad": backward}
    return [Kernel(op=op, device="cpu", fn=fn, dtypes=("float64",)) for op, fn in kernels.items()]


def outcomes(op: str) -> dict[str, str]:
    checks = ("pair", "value", "type", "shape", "inputs", "state", "gradient")
    return {case.check: case.run().kind for case in collect("stranger", ops=[op]) if case.check in checks}


@pytest.mark.parametrize("op", ["lstm", "lstm_grad"])
def test_kernels_of_a_pair_are_tested_together(register: Callable[..., None], op: str) -> None:
    register(*recurrent())
    checks = ("value", "type", "shape", "inputs", "state", "gradient")
    assert outcomes(op) == dict.fromkeys(checks, "passed")


def test_a_pair_that_does_not_fit(register: Callable[..., None]) -> None:
    register(*recurrent(is_stamped=False))
    found = outcomes("lstm")
    assert (found["value"], found["gradient"]) == ("passed", "failed")


def test_half_a_pair_fails(register: Callable[..., None]) -> None:
    register(*recurrent()[:1])
    (case,) = collect("stranger")
    assert (case.id, case.run().text) == (
        "lstm/float64/pair",
        "rule: a kernel that keeps a reserve and the one that takes it come together\nsample: all\nexpected: both\n"
        "got: half of a pair: its plugin has no usable kernel with pair=None for op 'lstm_grad', which takes its "
        "reserve",
    )


LEGEND = (
    "Coverage (tests passed; F failed; x failed as expected; X passed unexpectedly; ? not checked; n not run; u not "
    "available; . no kernel)"
)


def test_report_of_right_kernels(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(dtypes=("float32", "int8")), Kernel(op="exp", device="cpu", fn=np.exp, dtypes=("float32",)))
    assert main(["stranger"]) == 0
    total = 2 * COUNT + COUNT_OF_INT8
    assert capsys.readouterr().out.splitlines() == [
        f"agog-conformance: plugin 'stranger' (registered by the program), {total} tests, seed 20181105",
        LEGEND,
        "op      float32  int8",
        f"exp     {COUNT}       .",
        f"square  {COUNT}       {COUNT_OF_INT8}",
        f"{total} passed, 0 failed",
    ]


def test_report_of_a_failure(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(zero, dtypes=("int8",)))
    assert main(["stranger"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"agog-conformance: plugin 'stranger' (registered by the program), {COUNT_OF_INT8} tests, seed 20181105",
        "square/int8/value: FAILED",
        "    rule: a kernel's result is the reference's, within the tolerance",
        "    sample: shape ()",
        "    expected: np.int8(4)",
        "    got: np.int8(0) (1 of 1 elements are wrong; rtol 0, atol 0)",
        "square/int8/sizes: FAILED",
        "    rule: a kernel's result is the reference's, within the tolerance",
        "    sample: shape (1,)",
        "    expected: np.int8(4) at (0,)",
        "    got: np.int8(0) at (0,) (1 of 1 elements are wrong; rtol 0, atol 0)",
        "square/int8/variables: FAILED",
        "    rule: a result is that of the values that the inputs have now, also where memory or an object came before",
        "    sample: shape (), in variables that held other values before",
        "    expected: np.int8(1)",
        "    got: np.int8(0) (1 of 1 elements are wrong; rtol 0, atol 0)",
        LEGEND,
        "op      int8",
        f"square  {COUNT_OF_INT8 - 3} 3F",
        f"{COUNT_OF_INT8 - 3} passed, 3 failed",
    ]


def test_fail_fast_stops(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(zero))
    assert main(["stranger", "--fail-fast"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"0 passed, 1 failed, {COUNT - 1} not run"


def without_errors(out: str) -> list[str]:
    """The lines of a report, without the worst errors of results that were compared."""
    return re.sub(r" \(worst error \S+ ULP\)", "", out).splitlines()


def test_verbose_names_every_test(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square())
    assert main(["stranger", "-v"]) == 0
    lines = without_errors(capsys.readouterr().out)
    assert lines[1 : COUNT + 1] == [f"square/float32/{check}: passed" for check in CHECKS]


def test_choice_of_op_dtype_and_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cpu-numpy", "--op", "square", "--op", "exp", "--dtype", "float32", "--seed", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Its kernels can be taken apart, and are run by the core, by agog-cpu-executor, and by a compiler if there is one.
    count = COUNT + 2 + (find_spec("agog_cpu_llvm") is not None)
    assert lines[0].endswith(f", {2 * count} tests, seed 7")
    assert lines[2:] == ["op      float32", f"exp     {count}", f"square  {count}", f"{2 * count} passed, 0 failed"]


@pytest.mark.parametrize(("seconds", "is_shown"), [(0.0, True), (3600.0, False)])
def test_a_file_shows_now_and_then_how_far_the_tests_are(
    seconds: float,
    is_shown: bool,
    register: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    register(square())
    monkeypatch.setattr(command, "_SECONDS_IN_A_FILE", seconds)
    assert main(["stranger"]) == 0
    assert (f"| 9/{COUNT} [" in capsys.readouterr().err) == is_shown


def test_skip_leaves_an_op_out(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(zero), Kernel(op="exp", device="cpu", fn=np.exp, dtypes=("float32",)))
    assert main(["stranger", "--skip", "square"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["op   float32", f"exp  {COUNT}", f"{COUNT} passed, 0 failed"]
    assert main(["stranger", "--skip", "square", "--skip", "exp"]) == 2
    assert capsys.readouterr().err == f"agog-conformance: {NOTHING}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--jobs", "0"], "argument --jobs: 1 or more is expected; got 0."),
        (["--timeout", "-1"], "argument --timeout: a positive number is expected; got -1."),
        (["--json", "-", "--junit", "-"], "--json and --junit cannot both print; give one of them a file."),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], text: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["cpu-numpy", *arguments])
    assert caught.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"agog-conformance: error: {text}"


def test_seed_changes_the_samples(register: Callable[..., None]) -> None:
    register(square(zero))
    texts = [collect("stranger", seed=seed)[0].run().text for seed in (1, 2, 1)]
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--op", "levitate"], "plugin 'stranger' has no kernel for op levitate; it has them for square."),
        (["--skip", "levitate"], "plugin 'stranger' has no kernel for op levitate; it has them for square."),
        (["--dtype", "float64"], "plugin 'stranger' has no kernel for dtype float64; it has them for float32."),
    ],
)
def test_choice_of_nothing(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    register(square())
    assert main(["stranger", *arguments]) == 2
    assert capsys.readouterr().err == f"agog-conformance: {text}\n"


def test_unknown_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cpu-nunpy"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("agog-conformance: there is no plugin 'cpu-nunpy'; installed are ")
    assert "cpu-numpy" in error


def test_plugin_without_kernels(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register()
    assert main(["stranger"]) == 2
    assert capsys.readouterr().err == (
        "agog-conformance: plugin 'stranger' (registered by the program) brings no kernels, executors or compilers to "
        "test.\n"
    )


def test_plugin_of_unknown_ops_only(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(Kernel(op="levitate", device="cpu", fn=np.square))
    assert main(["stranger"]) == 2
    captured = capsys.readouterr()
    assert "not covered, for the kit has no facts about them: levitate" in captured.out.splitlines()
    assert captured.err == "agog-conformance: no test was run, so nothing is proved.\n"


def run_command(tmp_path: Path, *arguments: str, hooks: str = "", **environment: str) -> tuple[int, str]:
    """Run the command in a process of its own, with a plugin that is installed there."""
    (tmp_path / "broken_hooks.py").write_text(hooks)
    metadata = tmp_path / "broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agog]\nbroken = broken_hooks\n")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "agog_testing.conformance", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "", **environment},
        check=False,
    )
    return done.returncode, done.stderr


def test_plugin_that_failed_to_load(tmp_path: Path) -> None:
    assert run_command(tmp_path, "broken", hooks="import a_module_that_is_missing") == (
        2,
        "agog-conformance: plugin 'broken' (broken 1.0) failed to load: ModuleNotFoundError: No module named "
        "'a_module_that_is_missing'\n",
    )


def test_plugin_that_is_left_out(tmp_path: Path) -> None:
    assert run_command(tmp_path, "broken", AGOG_PLUGINS="cpu-numpy") == (
        2,
        "agog-conformance: plugin 'broken' (broken 1.0) is left out by AGOG_PLUGINS.\n",
    )


UNAVAILABLE = "square  1u"
NOTHING = "no test was run, so nothing is proved."


@pytest.mark.parametrize(("required", "code"), [("", 2), ("cpu-numpy, other", 2), ("cpu-numpy,stranger", 1)])
def test_unavailable_kernel(
    register: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    required: str,
    code: int,
) -> None:
    monkeypatch.setenv("REQUIRE_BACKEND", required)
    register(square(unavailable=lambda: "the processor lacks AVX-512"))
    assert main(["stranger"]) == code
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-2:] == [UNAVAILABLE, "0 passed, 0 failed, 1 not available"]
    failure = "REQUIRE_BACKEND names 'stranger', so this is a failure." if code == 1 else NOTHING
    assert captured.err == (
        f"agog-conformance: not available: the processor lacks AVX-512\nagog-conformance: {failure}\n"
    )


def test_absent_device(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(Kernel(op="square", device="tpu", fn=np.square, dtypes=("float32",)))
    assert main(["stranger"]) == 2
    assert capsys.readouterr().err == (
        "agog-conformance: not available: no installed plugin brings the device type 'tpu'.\n"
        f"agog-conformance: {NOTHING}\n"
    )


def test_kernel_that_is_there_beside_one_that_is_not(register: Callable[..., None]) -> None:
    register(square(), square(dtypes=("int8",), unavailable=lambda: "the processor lacks AVX-512"))
    assert main(["stranger"]) == 0


def test_unavailable_that_raises(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    def unavailable() -> str | None:
        raise OSError("no such driver")

    register(square(unavailable=unavailable))
    assert main(["stranger"]) == 1
    assert capsys.readouterr().out.splitlines()[1:6] == [
        "square/float32/value: FAILED",
        "    rule: unavailable() says why a kernel cannot be used",
        "    sample: none",
        "    expected: a sentence or None",
        "    got: OSError: no such driver",
    ]


def test_kernel_that_cannot_be_imported(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square("a_module_that_is_missing:square"))  # type: ignore[arg-type]
    assert main(["stranger"]) == 1
    assert (
        "square/float32/value: FAILED\n    rule: a kernel computes every sample of its op\n    sample: shape ()\n    "
        "expected: a result\n"
        "    got: ImportError: it cannot be imported: ModuleNotFoundError: No module named 'a_module_that_is_missing'\n"
    ) in capsys.readouterr().out


@pytest.mark.parametrize("broken", [lambda x: type(x)(x.memory * 0), lambda x: 1 / 0])
def test_broken_transpose_fails_no_test_of_another_op(
    register: Callable[..., None], remote: Backend, broken: Callable[..., Any]
) -> None:
    def right(x: Any) -> Any:
        return type(x)(np.square(x.memory))

    kernels = [Kernel(op=op, device="remote", fn=fn) for op, fn in (("square", right), ("transpose", broken))]
    register(*kernels, backend=remote)
    failed = {case.op for case in collect("stranger", dtypes=["float32"]) if case.run().kind == "failed"}
    assert failed == {"transpose"}


def expecting(failures: Mapping[str, str]) -> Conformance:
    return Conformance(expected_failures=failures)


def test_expected_failures(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    reasons = {f"square/*/{check}": "returns zeros" for check in ("value", "sizes", "large", "variables")}
    register(square(zero), conformance=expecting(reasons))
    assert main(["stranger", "-v"]) == 0
    out = without_errors(capsys.readouterr().out)
    at = out.index("square/float32/value: failed as expected")
    assert out[at + 1] == "    returns zeros"
    assert out[-2:] == [f"square  {COUNT - 4} 4x", f"{COUNT - 4} passed, 0 failed, 4 failed as expected"]


def test_expected_failure_that_passes_is_an_error(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    register(square(), conformance=expecting({"square/float32/value": "returns zeros"}))
    assert main(["stranger"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:3] == [
        "square/float32/value: PASSED UNEXPECTEDLY (worst error 0 ULP)",
        "    it passes, though the plugin expects it to fail (returns zeros); take the entry out",
    ]
    assert out[-2:] == [f"square  {COUNT - 1} 1X", f"{COUNT - 1} passed, 0 failed, 1 passed unexpectedly"]


def test_stale_expected_failure_is_an_error(register: Callable[..., None]) -> None:
    register(square(), conformance=expecting({"square/float64/value": "x", "sqare/*/*": "y"}))
    with says(
        ConformanceError,
        "plugin 'stranger': agog_conformance() expects failures of tests that do not exist: square/float64/value, "
        "sqare/*/*. Take the "
        "entries out, or correct them.",
    ):
        collect("stranger")


def test_expected_failure_of_an_unavailable_kernel_is_not_stale(register: Callable[..., None]) -> None:
    kernel = square(unavailable=lambda: "the processor lacks AVX-512")
    register(kernel, conformance=expecting({"square/float32/strides": "x"}))
    assert [case.run().kind for case in collect("stranger")] == ["unavailable"]


@pytest.mark.parametrize("key", ["square", "square/float32"])
def test_tolerances_of_the_plugin(register: Callable[..., None], key: str) -> None:
    def coarse(x: Array) -> Array:
        return np.asarray(np.square(x) * np.float32(1.01))

    register(square(coarse), conformance=Conformance(tolerances={key: (0.02, 0.0)}))
    assert {case.run().kind for case in collect("stranger")} == {"passed"}


def test_tolerance_for_nothing_is_an_error(register: Callable[..., None]) -> None:
    register(square(), conformance=Conformance(tolerances={"square/float16": (1.0, 1.0), "sqare": (1.0, 1.0)}))
    with says(
        ConformanceError,
        "plugin 'stranger': agog_conformance() gives tolerances for what it has no kernel for: square/float16, sqare.",
    ):
        collect("stranger")


def test_second_kernel_of_an_op_is_tested_too(register: Callable[..., None]) -> None:
    register(square(), square(zero, priority=50))
    kinds = {case.id: case.run().kind for case in collect("stranger")}
    assert (kinds["square/float32/value"], kinds["square#2/float32/value"]) == ("passed", "failed")


def test_fault_of_the_kit_is_shown_with_its_traceback(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from agog_testing.opinfo import table

    def broken(x: Array) -> Array:
        raise LookupError("no reference")

    register(square())
    monkeypatch.setitem(
        table, "square", type(table["square"])(name="square", samples=table["square"].samples, reference=broken)
    )
    outcome = collect("stranger")[0].run()
    assert outcome.kind == "failed"
    assert outcome.text.startswith("the test itself raised an exception:\nTraceback (most recent call last):\n")
    assert outcome.text.endswith("LookupError: no reference")


def test_preferences_and_tables_stay_as_they_were() -> None:
    from agog_core.dispatch.devices.lookup import get_device

    preferred = ag.prefer("cpu-numpy")
    try:
        for case in collect("cpu-numpy", ops=["square"], dtypes=["float32"]):
            case.run()
        with ag.device("cpu:0"):
            ag.square([1.0])
        assert get_device("cpu:0").table(ag.float32).kernels["square"] is np.square
        assert ag.prefer("cpu-numpy") == ("cpu-numpy",)
    finally:
        ag.prefer(*preferred)
