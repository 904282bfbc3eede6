"""Hashing: facts about the ops of agog_core.ops.strings.hashing. Their references are tables of published hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.strings.strings import STRINGS, filled, texts
from agog_testing.opinfo.values import Rng, invalid, rejected

# The hashes in the comments of TensorFlow's own tests (string_to_hash_bucket_op_test.py).
MURMUR = {b"a": 2996632905371535868, b"b": 5795986006276551370, b"c": 14899841994519054197}
SIP = {b"a": 7157389809176466784, b"b": 15805638358933211562, b"c": 18100027895074076528}
SIP_KEY = (98765, 132)
# The test data of https://github.com/tecnickcom/farmhash64, of all branches of the function: up to 3, 7, 16, 32 and 64
# bytes, and beyond.
FARM = {
    b"": 0x9AE16A3B2F90404F,
    b"a": 0xB3454265B6DF75E3,
    b"ab": 0xAA8D6E5242ADA51E,
    b"abc": 0x24A5B3A074E7F369,
    b"abcd": 0x1A5502DE4A1F8101,
    b"abcdefg": 0x3C40C92B1CCB7355,
    b"abcdefgh": 0xFEE9D22990C82909,
    b"0123456789'01234": 0x4283D4EF43627F64,
    b"0123456789=012345": 0x46A7416ED4861E3B,
    b"C is as portable as Stonehedge!!": 0xB944F8A16261E414,
    b"Discard medicine more than two years old.": 0xE8F89AB6DF9BDD25,
    b"How can you write a big system without C++?  -Paul Glick": 0x5A0A6EFD52E84E2A,
    b"For every action there is an equal and opposite government program.": 0x55182F8859ECA4CE,
    b"The fugacity of a constituent in a mixture of gases at a given temperature is proportional to its mole fraction. "
    b" Lewis-Randall Rule": 0x098EFF6958C5E91A,
}


def _samples(hashes: dict[bytes, int], **key: Any) -> Callable[[str, Rng], Iterator[Sample]]:
    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        known = texts(*hashes)
        for buckets in (1, 10, 2**63 - 1):
            yield Sample(f"each known string into {buckets}", (known, buckets), key)
        yield Sample("a scalar", (filled([b"a"], ()), 7), key)
        yield Sample("none", (texts(), 7), key)
        for shape in ((2, 3), (67,)):
            yield Sample(f"shape {shape}", (known[rng.integers(0, len(known), shape)], 1000), key)

    return samples


def _fingerprints(dtype: str, rng: Rng) -> Iterator[Sample]:
    known = texts(*FARM)
    yield Sample("each known string", (known,))
    yield Sample("one string", (known[:1],))
    yield Sample("none", (texts(),))
    yield Sample("67 strings", (known[rng.integers(0, len(known), 67)],))


def _reference(hashes: dict[bytes, int]) -> Callable[..., Array]:
    def bucket(x: Array, num_buckets: int, key: Any = None) -> Array:
        return filled([hashes[text] % num_buckets for text in x.flat], x.shape, np.int64)

    return bucket


def _info(name: str, hashes: dict[bytes, int], errors: tuple[ErrorSample, ...] = (), **key: Any) -> OpInfo:
    text = f"{name}: num_buckets must be at least 1; got 0."
    return OpInfo(
        name=name,
        samples=_samples(hashes, **key),
        reference=_reference(hashes),
        differentiable=False,
        errors=(
            invalid((texts(b"a"), 0), text, STRINGS, **key),
            rejected(name, "float32", STRINGS, (np.array([1.0], np.float32), 3), STRINGS, **key),
            *errors,
        ),
    )


INFOS = (
    OpInfo(
        name="fingerprint",
        samples=_fingerprints,
        reference=lambda data: np.array([FARM[text] for text in data], "<u8").reshape(-1, 1).view(np.uint8),
        differentiable=False,
        errors=(
            invalid((filled([b"a"], ()),), "fingerprint: data must have shape (n,); got shape ().", STRINGS),
            invalid((texts(b"a"), "sha1"), "fingerprint: method must be 'farmhash64'; got 'sha1'.", STRINGS),
            rejected("fingerprint", "float32", STRINGS, (np.array([1.0], np.float32),), STRINGS),
        ),
    ),
    _info("string_to_hash_bucket", MURMUR),
    _info("string_to_hash_bucket_fast", FARM),
    _info(
        "string_to_hash_bucket_strong",
        SIP,
        (
            invalid(
                (texts(b"a"), 3, [1, -2]),
                "string_to_hash_bucket_strong: key must be two integers from 0 to 2**64 - 1; got [1, -2].",
                STRINGS,
            ),
        ),
        key=SIP_KEY,
    ),
)
