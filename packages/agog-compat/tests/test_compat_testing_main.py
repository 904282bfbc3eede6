"""Programs of tests and benchmarks, and gradients that are checked against differences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat.testing import main
from agog_compat.testing.benchmark import Benchmark
from agog_compat.testing.gradient_check import compute_gradient, compute_gradient_error
from agog_testing import says

PROGRAM = """
from agog_compat.testing.benchmark import Benchmark
from agog_compat.testing.main import main
from agog_compat.testing.test_case import TestCase

class SumTest(TestCase):
    def test_it(self):
        print("the test ran")

class SumBenchmark(Benchmark):
    def benchmark_small(self):
        self.report_benchmark(iters=5, wall_time=0.5, extras={"size": 3})

    def benchmark_large(self):
        self.report_benchmark(iters=1, name="big")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ([], "the test ran\n"),
        (["SumTest.test_it"], "the test ran\n"),
        (
            ["--benchmarks=small"],
            '{"name": "SumBenchmark.benchmark_small", "iters": 5, "wall_time": 0.5, "extras": {"size": 3}}\n',
        ),
        (["--benchmarks=nothing"], ""),
    ],
)
def test_a_program_runs_its_tests_or_benchmarks(arguments: list[str], printed: str, tmp_path: Path) -> None:
    script = tmp_path / "sum_test.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


def test_reports_go_into_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/r_")

    class Sum(Benchmark):
        def benchmark_it(self) -> None:
            self._measure()

        def _measure(self) -> None:
            self.report_benchmark(iters=2)

    Sum().benchmark_it()
    assert json.loads((tmp_path / "r_Sum.benchmark_it").read_text()) == {"name": "Sum.benchmark_it", "iters": 2}
    with pytest.raises(FileExistsError):
        Sum().benchmark_it()


def test_functions_are_measured(capsys: Any) -> None:
    calls: list[int] = []
    values = Benchmark().run_op_benchmark(None, lambda: calls.append(1), burn_iters=1, min_iters=4, name="it", mbs=2.0)
    assert len(calls) == 5
    assert (values["iters"], values["throughput"]) == (4, 2.0 / values["wall_time"])
    assert json.loads(capsys.readouterr().out)["name"] == "Benchmark.it"
    with says(
        TypeError, "run_op_benchmark: ops run as they are called, so pass a function that runs them; got Tensor."
    ):
        Benchmark().run_op_benchmark(None, ag.constant(1.0))  # type: ignore[arg-type]  # what is tested


def test_places() -> None:
    assert main.get_temp_dir() == main.get_temp_dir()
    assert os.path.isdir(main.get_temp_dir())
    assert main.test_src_dir_path("a/b") == os.path.abspath("a/b")
    assert main.is_gpu_available() is main.is_built_with_cuda() is bool(main.gpu_device_name())


def test_gradients_of_several_inputs() -> None:
    x, y = np.array([1.0, 2.0]), np.array([[3.0, 4.0]])
    found = compute_gradient([x, y], [[2], [1, 2]], lambda x, y: x * y + ag.sin(x), [1, 2])
    for (theory, numeric), diagonal in zip(found, (y[0] + np.cos(x), x), strict=True):
        np.testing.assert_allclose(theory, np.diag(diagonal))
        np.testing.assert_allclose(numeric, np.diag(diagonal), rtol=1e-5)


def test_a_wrong_gradient_is_seen() -> None:
    @ag.custom_gradient
    def wrong(x: ag.Tensor) -> Any:
        return x * x, lambda dy: dy * x

    x = np.array([3.0])
    assert compute_gradient_error(x, [1], lambda x: x * x) < 1e-6
    assert compute_gradient_error(x, [1], wrong, [1]) == pytest.approx(3.0, rel=1e-5)
    assert compute_gradient_error([x], [[1]], lambda x: ag.ones([2]), x_init_value=[x]) == 0.0


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([1.0], None, ag.constant(1.0)), TypeError, "y must be a function of x, because ops run as they are called; "
         "got Tensor. Write lambda x: ... around what computes it."),
        ((np.array([1]), None, abs), TypeError, "x must be floating-point; got int64."),
        ((np.array([1.0]), [2], abs), ValueError, "x_shape is [2], but x has shape (1,)."),
        ((np.array([1.0]), [1], abs, [3]), ValueError, "y_shape is [3], but y has shape (1,)."),
    ],
)  # fmt: skip
def test_mistakes(arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with says(error, f"compute_gradient: {text}"):
        compute_gradient(*arguments)
