"""Comparison: `python tests/speed/comparison.py` says how long traced functions take beside eager calls of the same.

Eager and traced calls go in turn, block by block, in one process, and its time is that of the processor, so that the
ratios hold on a busy machine too. After
three first calls each, 100 steps are measured; the ratio at 1,000 steps counts the first calls too, and is projected
from the last blocks where these would take long.

    python tests/speed/comparison.py                     # the programs here, and the examples
    python tests/speed/comparison.py lstm gru --alone    # two of them, without compilers
    python tests/speed/comparison.py --cases FOLDER      # with the cases of a folder that has adapters/subject.py
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import agog as tf
from agog_testing.compilers import compilers_in_use

HERE = Path(__file__).parent
FIRST, STEPS, ALL = 3, 100, 1000
AT_MOST = 1.05


class Ratios(NamedTuple):
    """How long traced calls take beside eager ones."""

    milliseconds: float  # of an eager step
    first: float  # the first calls, in eager steps
    at_100: float
    at_1000: float
    is_projected: bool


def main() -> None:
    """Compare, and print a line for each program."""
    parser = argparse.ArgumentParser(prog="comparison.py", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="programs; all by default")
    parser.add_argument("--alone", action="store_true", help="without compilers")
    parser.add_argument("--cases", type=Path, help="a folder with cases.py and adapters/subject.py")
    parser.add_argument("--seconds", type=float, default=4.0, help="for 1,000 eager steps; beyond that, fewer are made")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    slower = []
    print(f"{'program':32} {'eager ms':>9} {'first':>7} {'at 100':>7} {'at 1000':>8}")
    with compilers_in_use() if asked.alone else nullcontext():
        for name, make in programs(asked.cases):
            if asked.names and name not in asked.names:
                continue
            try:
                found = compared(make, asked.seconds)
            except tf.errors.TracingError as error:  # such as of a case that reads values between its steps
                print(f"{name:32} cannot be traced: {str(error)[:80]}...", flush=True)
                continue
            is_slower = max(found.at_100, found.at_1000) > AT_MOST
            slower += [name] if is_slower else []
            at_1000 = f"{'~' if found.is_projected else ''}{found.at_1000:.2f}"
            print(
                f"{name:32} {found.milliseconds:9.3f} {found.first:7.1f} {found.at_100:7.2f} {at_1000:>8}"
                f"{'  slower' if is_slower else ''}",
                flush=True,
            )
    print(f"{len(slower)} slower than {AT_MOST} of eager: {', '.join(slower) or 'none'}")


def programs(cases: Path | None) -> Iterator[tuple[str, Callable[[Any], Callable[[], Any]]]]:
    """The programs by their names: those here, the steps of the examples, the cases of a folder."""
    yield from module(HERE / "programs.py").PROGRAMS.items()
    for name, make in examples().items():
        yield f"example {name}", make
    if cases is not None:
        sys.path += [str(cases), str(cases / "adapters")]
        for name, make in importlib.import_module("subject").CASES.items():
            if not name.startswith("data_"):
                yield f"case {name}", lambda wrap, make=make: wrap(make())


def examples() -> dict[str, Callable[[Any], Callable[[], Any]]]:
    """The steps of the examples, on the batches that their test gives them."""
    found = module(HERE.parent / "integration" / "test_integration_traced_examples.py")

    def steps(make: Any) -> Callable[[Any], Callable[[], Any]]:
        def wrapped(wrap: Any) -> Callable[[], Any]:
            step, batch, *_ = make()
            traced, args = wrap(step), [batch() for _ in range(8)]
            places = iter(range(10**9))
            return lambda: traced(*args[next(places) % len(args)])

        return wrapped

    return {make.__name__: steps(make) for make in found.MAKERS}


def module(file: Path) -> Any:
    """A module from its file."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def compared(make: Callable[[Any], Callable[[], Any]], seconds: float) -> Ratios:
    """The ratios of a program."""
    tf.set_random_seed(1)
    eager, traced = make(lambda f: f), make(tf.function)
    took(eager, FIRST)
    first = took(traced, FIRST)
    blocks = [(took(eager, STEPS // 10), took(traced, STEPS // 10)) for _ in range(10)]
    one = min(each for each, _ in blocks) / (STEPS // 10)
    of_eager, of_traced = (sum(each) for each in zip(*blocks, strict=True))
    at_100 = of_traced / of_eager
    left = ALL - STEPS - FIRST
    is_projected = one * ALL > seconds
    count = max(10, int(seconds / one)) if is_projected else left
    rest = [(took(eager, count // 10), took(traced, count // 10)) for _ in range(10)]
    scale = left / (count // 10 * 10)
    more_eager, more_traced = (scale * sum(each) for each in zip(*rest, strict=True))
    at_1000 = (first + of_traced + more_traced) / (FIRST * one + of_eager + more_eager)
    return Ratios(one * 1e3, first / one, at_100, at_1000, is_projected)


def took(step: Callable[[], Any], count: int) -> float:
    """Seconds of the processor that some steps take: other programs run meanwhile."""
    start = time.process_time()
    for _ in range(count):
        step()
    return time.process_time() - start


if __name__ == "__main__":
    main()
