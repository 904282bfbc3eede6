"""The command ``python -m agog_testing.random_programs NUMBER``: it runs random programs and prints what differs."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from agog_testing.random_programs.comparison import difference_of
from agog_testing.random_programs.executors import WAYS, running
from agog_testing.random_programs.generator import source_of
from agog_testing.random_programs.shrinking import reduced


def main() -> int:
    """Run programs; 1 where some differ."""
    parser = argparse.ArgumentParser(prog="python -m agog_testing.random_programs", description=__doc__)
    parser.add_argument("number", type=int, help="the program, or the first one")
    parser.add_argument("--count", type=int, default=1, help="how many programs are run")
    parser.add_argument("--large", action="store_true", help="arrays are large")
    parser.add_argument("--by", choices=WAYS, default="compilers", help="what runs them")
    parser.add_argument("--reduce", type=float, default=0.0, help="seconds in which each that differs is shortened")
    parser.add_argument("--quiet", action="store_true", help="print no sources")
    asked = parser.parse_args()
    kinds: Counter[str] = Counter()
    start = time.monotonic()
    with running(asked.by):
        for number in range(asked.number, asked.number + asked.count):
            source = source_of(number, asked.large)
            if asked.count == 1 and not asked.quiet:
                print(source)
            found = difference_of(source)
            kinds["equal" if found is None else found.kind] += 1
            if found is not None:
                print(f"program {number}{' --large' if asked.large else ''} by {asked.by}: {found.kind}: {found.text}")
                if asked.reduce and found.kind not in ("limit", "sums"):
                    shorter, found = reduced(source, found, asked.reduce)
                    print(f"{found.text}\n\n{shorter}\n")
                sys.stdout.flush()
    print(f"{asked.count} programs in {time.monotonic() - start:.1f} s: {dict(kinds)}")
    return int(any(kind not in ("equal", "limit", "sums") for kind in kinds))


if __name__ == "__main__":
    sys.exit(main())
