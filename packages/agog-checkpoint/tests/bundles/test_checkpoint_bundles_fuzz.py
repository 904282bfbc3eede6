"""Damaged checkpoints of TensorFlow: an error or the right values, soon and in little memory.

``AGOG_DAMAGED_CHECKPOINTS`` says how many there are; `nox -s damaged_checkpoints` has 3,000.
"""

from __future__ import annotations

import os
import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bundles.tensors import same

from agog_checkpoint.tensorflow import open_checkpoint, table
from agog_checkpoint.tensorflow.protobuf import encoded_varint
from agog_checkpoint.tensorflow.table import Table
from agog_checkpoint.tensorflow.table_writer import encoded_table
from agog_core.errors import DataLossError, NotFoundError, UnimplementedError
from agog_testing import says

FILES = Path(__file__).parent / "files"
COUNT = int(os.environ.get("AGOG_DAMAGED_CHECKPOINTS", "100"))
LONGEST, MOST_BYTES = 1.0, 200_000_000
CHECKPOINTS = ("v2.ckpt", "v2_sharded.ckpt", "layers/model.ckpt-3", "saved_model_2/variables/variables", "v1.ckpt")
ERRORS = (DataLossError, NotFoundError, UnimplementedError)
Damage = Callable[[random.Random, bytearray], None]


def _flip(chances: random.Random, raw: bytearray) -> None:
    for _ in range(chances.choice((1, 1, 4))):
        raw[chances.randrange(len(raw))] ^= 1 << chances.randrange(8)


def _cut(chances: random.Random, raw: bytearray) -> None:
    del raw[chances.randrange(len(raw)) :]


def _lose(chances: random.Random, raw: bytearray) -> None:
    begin = chances.randrange(len(raw))
    del raw[begin : begin + chances.choice((1, 4, 64))]


def _zero(chances: random.Random, raw: bytearray) -> None:
    begin = chances.randrange(len(raw))
    raw[begin : begin + 64] = bytes(len(raw[begin : begin + 64]))


def _swap(chances: random.Random, raw: bytearray) -> None:
    size = chances.choice((4, 16, 64))
    one, other = (chances.randrange(max(1, len(raw) // size)) * size for _ in range(2))
    raw[one : one + size], raw[other : other + size] = raw[other : other + size], raw[one : one + size]


def _enlarge(chances: random.Random, raw: bytearray) -> None:
    """Make a number huge: in most places a length, a size or an offset of a message or a block."""
    begin = chances.randrange(len(raw))
    raw[begin : begin + chances.randrange(2)] = encoded_varint(1 << chances.choice((20, 31, 32, 40, 62, 63)))


def _append(chances: random.Random, raw: bytearray) -> None:
    raw += chances.randbytes(chances.choice((1, 48, 500)))


DAMAGES: tuple[Damage, ...] = (_flip, _cut, _lose, _zero, _swap, _enlarge, _append)


def _reseal(chances: random.Random, file: Path) -> None:
    """Damage the pairs of a table, and make its checksums right again."""
    with file.open("rb") as stream:
        pairs = [list(pair) for pair in Table(stream)]
    for _ in range(chances.choice((1, 1, 3))):
        pair = chances.choice(pairs)
        part = chances.choice((0, 1, 1, 1))
        if raw := bytearray(pair[part]):
            chances.choice(DAMAGES)(chances, raw)
            pair[part] = bytes(raw)
    file.write_bytes(encoded_table(sorted(dict(map(tuple, pairs)).items())))


def _files(name: str) -> list[Path]:
    return [FILES / name] if (FILES / name).is_file() else sorted((FILES / name).parent.glob(f"{Path(name).name}.*"))


def _contents(prefix: str) -> dict[str, Any]:
    with open_checkpoint(prefix) as checkpoint:
        found = {name: checkpoint.read(name) for name in checkpoint.names()}
        assert all(found[name].shape == checkpoint.shape(name) for name in found)
        assert all(checkpoint.dtype(name).numpy_dtype == found[name].dtype for name in found)
        checkpoint.object_graph()
    return found


def test_damage_is_an_error_or_harmless(tmp_path: Path) -> None:
    expected = {name: _contents(str(FILES / name)) for name in CHECKPOINTS}
    outcomes: Counter[str] = Counter()
    tracemalloc.start()
    try:
        for seed in range(COUNT):
            chances = random.Random(seed)
            name = chances.choice(CHECKPOINTS)
            is_resealed = chances.random() < 0.4
            outcomes[_outcome(chances, name, is_resealed, expected[name], tmp_path / str(seed), f"seed {seed}")] += 1
    finally:
        tracemalloc.stop()
    print(dict(outcomes))
    assert outcomes["DataLossError"] > 0.6 * COUNT


def _outcome(
    chances: random.Random, name: str, is_resealed: bool, expected: dict[str, Any], folder: Path, case: str
) -> str:
    folder.mkdir()
    files = [folder / file.name for file in _files(name)]
    for file, original in zip(files, _files(name), strict=True):
        file.write_bytes(original.read_bytes())
    if is_resealed:
        _reseal(chances, next(file for file in files if file.suffix == ".index" or len(files) == 1))
    else:
        file = chances.choice([file for file in files if file.stat().st_size])
        raw = bytearray(file.read_bytes())
        chances.choice(DAMAGES)(chances, raw)
        file.write_bytes(raw)
    tracemalloc.reset_peak()
    before, begun = tracemalloc.get_traced_memory()[0], time.perf_counter()
    outcome, message, found = "harmless", str(folder), expected
    try:
        found = _contents(str(folder / Path(name).name))
    except ERRORS as error:
        outcome, message = type(error).__name__, str(error)
    assert str(folder) in message, case
    if not is_resealed:  # right checksums of what nobody wrote cover nothing
        assert found.keys() == expected.keys(), case
        assert all(same(found[key], value) for key, value in expected.items()), case
    assert time.perf_counter() - begun < LONGEST, case
    assert tracemalloc.get_traced_memory()[1] - before < MOST_BYTES, case
    return outcome


def test_a_block_that_stands_for_far_more_than_it_takes_is_refused() -> None:
    """Keys that share a long beginning: nine bytes for each, and 100 MB for all of them."""
    block = bytearray(b"".join(map(encoded_varint, (0, 10_000, 0))) + b"x" * 10_000)
    for number in range(10_000):
        block += b"".join(map(encoded_varint, (10_000, 6, 0))) + b"%06d" % number
    block += bytes(4) + (1).to_bytes(4, "little")
    begun = time.perf_counter()
    tracemalloc.start()
    try:
        with says(ValueError, "the keys of a block take more than 100 times its bytes"):
            table._pairs(bytes(block))
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - begun < LONGEST
