"""Main: ``tf.test.main``, and the folders and devices of a test run."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import unittest
from collections.abc import Sequence
from functools import cache
from typing import Any

from agog_compat.app import run
from agog_compat.execution import num_gpus
from agog_compat.testing.benchmark import run_benchmarks

__all__ = ["get_temp_dir", "gpu_device_name", "is_built_with_cuda", "is_gpu_available", "main", "test_src_dir_path"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program's module, or with ``--benchmarks=REGEX`` its benchmarks, and end the program.

    Args:
        argv: the arguments; None for those of the command line.

    Raises:
        SystemExit: always.
    """
    arguments = list(sys.argv if argv is None else argv)
    asked = [argument for argument in arguments if argument.lstrip("-").startswith("benchmarks=")]
    if asked:
        run(lambda _: run_benchmarks(asked[0].partition("=")[2]), [a for a in arguments if a not in asked])
    run(lambda rest: unittest.main(module="__main__", argv=rest), arguments)


@cache
def get_temp_dir() -> str:
    """A folder for the tests of this process, which is deleted at its end.

    Returns:
        The folder's path, always the same.
    """
    folder = tempfile.mkdtemp(prefix="agog_test_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def test_src_dir_path(relative_path: str) -> str:
    """The path of a file of the tests.

    Args:
        relative_path: the path from the folder that the environment variable TEST_SRCDIR names, or from this one.

    Returns:
        The absolute path.
    """
    return os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", ""), relative_path))


test_src_dir_path.__dict__["__test__"] = False  # pytest would take it for a test


def gpu_device_name() -> str:
    """The name of the first GPU.

    Returns:
        ``"/device:GPU:0"``, or an empty text where there is none.

    >>> gpu_device_name() == ("/device:GPU:0" if is_gpu_available() else "")
    True
    """
    return "/device:GPU:0" if num_gpus() else ""


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU.

    Returns:
        True when `num_gpus` is not 0.
    """
    return num_gpus() > 0


def is_built_with_cuda() -> bool:
    """Whether a GPU can be used here: agog is the same with and without, and a plugin brings the device.

    Returns:
        The same as `is_gpu_available`.
    """
    return is_gpu_available()
