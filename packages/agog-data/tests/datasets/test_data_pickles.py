"""The reader of pickles, beside Python's own: the same data, and one error for all else."""

from __future__ import annotations

import copy
import io
import os
import pickle
import random
import struct
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agog_core import errors
from agog_data.datasets.pickles import unpickled

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=300),
    st.binary(max_size=300),
)  # fmt: skip
DATA = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.text() | st.binary(), inner, max_size=4),
        st.tuples(inner), st.tuples(inner, inner, inner, inner),
    ),
    max_leaves=20,
)  # fmt: skip
PROTOCOLS = [2, 3, 4, 5]


class Only(pickle._Unpickler):  # type: ignore[misc, name-defined]  # in Python: memory goes with what is remembered
    """Python's reader, without the names that are not NumPy's."""

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in (
            *("numpy.ndarray", "numpy.dtype", "numpy.core.multiarray._reconstruct"),
            *("numpy._core.multiarray._reconstruct", "_codecs.encode", "__builtin__.bytes"),
        ):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return bytes if name == "bytes" else super().find_class(module, name)


def of_python(data: bytes) -> Any:
    return Only(io.BytesIO(data), encoding="bytes").load()


def same(a: Any, b: Any) -> bool:
    """Whether two are equal, of the same types, at any depth."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        # NumPy changes the order of bytes as it reads a pickle.
        equal = a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and a.shape == b.shape
        return equal and same(a.tolist(), b.tolist())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same([*a.items()], [*b.items()])
    return struct.pack("d", a) == struct.pack("d", b) if isinstance(a, float) else bool(a == b)


@given(DATA, st.sampled_from(PROTOCOLS))
@settings(max_examples=300, deadline=None)
def test_data_are_read(value: Any, protocol: int) -> None:
    assert same(unpickled("x", pickle.dumps(value, protocol)), value)
    plain = pickle._Pickler  # type: ignore[attr-defined]  # it writes each object in another way
    file = io.BytesIO()
    plain(file, protocol).dump(value)
    assert same(unpickled("x", file.getvalue()), value)


def ragged() -> np.ndarray[Any, Any]:
    rows = np.empty(5, object)
    rows[:] = [[1, 300, 70_000, -5, 2**40], [], [7], [255, 256, 65_535, 65_536], [2**31, -(2**31)]]
    return rows


ARRAYS = [
    *(np.arange(-3, 9).reshape(3, 4).astype(dtype) for dtype in ("u1", "<i4", ">i4", ">f8", "f2", "<u2", ">i8")),
    *(np.arange(24.0).reshape(2, 3, 4, order="F"), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3))),
    *(np.array(5), ragged(), ragged()[:4].reshape(2, 2), np.empty(0, object)),
]


@pytest.mark.parametrize("protocol", PROTOCOLS[:3])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_are_read(array: np.ndarray[Any, Any], protocol: int) -> None:
    found = unpickled("x", pickle.dumps(array, protocol))
    assert same(found.reshape(array.shape), array)
    several = {"data": array, "labels": [1, 2], "more": [copy.deepcopy(array), copy.deepcopy(array).T]}
    assert same(unpickled("x", pickle.dumps(several, protocol)), of_python(pickle.dumps(several, protocol)))


def of_python_2(data: bytes, labels: list[int], shape: tuple[int, int]) -> bytes:
    """What Python 2 wrote for CIFAR, by the description of the operations in `pickletools`."""
    rows, columns = (b"M" + struct.pack("<H", size) for size in shape)
    numbers = b"".join(b"K" + bytes([label]) for label in labels)
    return (
        b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03U\x06labelsq\x04]q\x05(" + numbers
        + b"eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85U\x01b\x87Rq\x09"
        + b"(K\x01" + rows + columns + b"\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff"
        + b"\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<I", len(data)) + data
        + b"tbU\tfilenamesq\x0c]q\x0d(U\x05a.pngq\x0eU\x05b.pngq\x0feu."
    )  # fmt: skip


def test_pickles_of_python_2_are_read() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 300), np.uint8)
    pickled = of_python_2(pixels.tobytes(), [6, 9], (2, 300))
    found = unpickled("x", pickled)
    assert same(found, of_python(pickled))
    assert same(found[b"data"], pixels)
    assert (found[b"labels"], found[b"filenames"]) == ([6, 9], [b"a.png", b"b.png"])


class Hostile:
    """What runs a program where it is read as Python reads it."""

    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/this-must-not-be",)


def lost(data: bytes) -> str:
    with pytest.raises(errors.DataLossError) as error:
        unpickled("x.npz['x']", data)
    text = str(error.value)
    assert text.startswith("x.npz['x']: at byte ")
    return text.removeprefix("x.npz['x']: at byte ")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_a_pickle_names_is_called(protocol: int) -> None:
    module = os.system.__module__
    place = {2: 2, 3: 2}.get(protocol, 28)
    assert lost(pickle.dumps(Hostile(), protocol)) == (
        f"{place}: the pickle names {module}.system, which is never called: only NumPy's arrays of numbers and of "
        "objects are read."
    )
    assert not os.path.exists("/tmp/this-must-not-be")


NDARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R"
TWICE = "the pickle uses an object twice that is no number, text or dtype, or that it has not."
NUMBERS = b"cnumpy\ndtype\nU\2u1K\0K\1\x87R(K\3U\1|NNNtb"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "0: the pickle ends in the middle."),
        (b"\x80", "0: the pickle ends in the middle."),
        (b"(lp0\n.", "0: a pickle of protocol 2 to 5 begins otherwise."),
        (b"\x80\x06N.", "0: a pickle of protocol 2 to 5 begins otherwise."),
        (b"\x80\2", "2: the pickle ends in the middle."),
        (b"\x80\2K", "2: the pickle ends in the middle."),
        (b"\x80\2T\xff\xff\xff\xffabc", "2: the pickle ends in the middle."),
        (b"\x80\4\x8e" + b"\xff" * 8, "2: the pickle ends in the middle."),
        (b"\x80\2i", "2: the pickle has the operation b'i', which data do not need."),
        (b"\x80\2I01\n.", "2: the pickle has the operation b'I', which data do not need."),
        (b"\x80\2N2.", "3: the pickle has the operation b'2', which data do not need."),
        (b"\x80\2P1\n.", "2: the pickle has the operation b'P', which data do not need."),
        (b"\x80\2.", "2: the pickle's operation b'.' does not fit what comes before it."),
        (b"\x80\2NN.", "4: the pickle's operation b'.' does not fit what comes before it."),
        (b"\x80\2(.", "3: the pickle's operation b'.' does not fit what comes before it."),
        (b"\x80\2cnumpy\nndarray\n.", "17: the pickle's operation b'.' does not fit what comes before it."),
        (b"\x80\2Na.", "3: the pickle's operation b'a' does not fit what comes before it."),
        (b"\x80\2]e.", "3: the pickle's operation b'e' does not fit what comes before it."),
        (b"\x80\2](\x85.", "4: the pickle's operation b'\\x85' does not fit what comes before it."),
        (b"\x80\2}K\1K\2s.", "7: the pickle's operation b's' does not fit what comes before it."),
        (b"\x80\2}(U\1au.", "7: the pickle's operation b'u' does not fit what comes before it."),
        (b"\x80\2NNR.", "4: the pickle's operation b'R' does not fit what comes before it."),
        (b"\x80\2N(tb.", "5: the pickle's operation b'b' does not fit what comes before it."),
        (b"\x80\2]q\0h\0a.", f"5: {TWICE}"),
        (b"\x80\2)q\0\x85q\1h\1.", f"8: {TWICE}"),
        (b"\x80\2h\0.", f"2: {TWICE}"),
        (b"\x80\2]cnumpy\nndarray\na.", "18: the pickle's operation b'a' does not fit what comes before it."),
        (b"\x80\2]cnumpy\nndarray\n\x85a.", "19: the pickle's operation b'a' does not fit what comes before it."),
        (b"\x80\2}U\1acnumpy\nndarray\ns.", "21: the pickle's operation b's' does not fit what comes before it."),
        (b"\x80\2X\1\0\0\0\xff.", "2: the pickle has a text that is no UTF-8."),
        (b"\x80\2\x8a\x09123456789.", "2: the pickle has an integer of 9 bytes, and 8 are expected at most."),
        (b"\x80\2c" + b"x" * 200, "2: the pickle has a name without an end."),
        (b"\x80\2" + b"(" * 101, "102: the pickle is nested more than 100 deep."),
        (
            b"\x80\2" + b"]" * (2**20 + 1),
            "1048578: the pickle has more than 1048576 lists, dicts, tuples and remembered objects.",
        ),
        (
            b"\x80\2cnumpy\ndtype\nU\2M8K\0K\1\x87R.",
            "24: the pickle has the dtype 'M8', which such data do not have.",
        ),
        (
            b"\x80\2" + NDARRAY + b"(K\1K\3\x85" + NUMBERS + b"\x89U\2abtb.",
            "107: the pickle has an array of shape (3,) and other elements than that has.",
        ),
        (
            b"\x80\2X\3\0\0\0abcq\0X\6\0\0\0latin1q\1c_codecs\nencode\nq\2" + b"h\2h\0h\1\x86R0" * 30,
            "51: the pickle has the operation b'0', which data do not need.",
        ),
        (
            b"\x80\2X\x28\0\0\0" + b"a" * 40 + b"q\0X\6\0\0\0latin1q\1c_codecs\nencode\nq\2]("
            + b"h\2h\0h\1\x86R" * 30 + b"e.",
            "153: the pickle makes more bytes than it has.",
        ),
    ],
)  # fmt: skip
def test_what_data_do_not_need(data: bytes, problem: str) -> None:
    assert lost(data) == problem


def test_shapes_are_compared_before_anything_is_made() -> None:
    huge = b"(K\1(" + b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f" * 2 + b"K\0t" + NUMBERS + b"\x89U\0tb."
    assert lost(b"\x80\2" + NDARRAY + huge) == "126: the pickle's operation b'b' does not fit what comes before it."
    wide = b"(K\1(" + b"K\1" * 33 + b"t" + NUMBERS + b"\x89U\1atb."
    assert "operation b'b' does not fit" in lost(b"\x80\2" + NDARRAY + wide)


PLAINLY = [1.5, None, True, (2, "é"), {"a": [b"", -1, 70_000, 2**40], b"b": ()}, "word" * 20, [[], [[3]]], "a"]


def samples() -> list[bytes]:
    values = [ragged(), {"data": np.arange(6, dtype="u1").reshape(2, 3), "labels": [1, 2, 300], "names": ["a", b"b"]}]
    found = [pickle.dumps(value, protocol) for value in values for protocol in (2, 3, 4)]
    return [
        *found,
        of_python_2(bytes(range(60)), [6, 9], (2, 30)),
        *(pickle.dumps(PLAINLY, protocol) for protocol in (2, 3, 4)),
    ]


def damaged(rng: random.Random, whole: bytes, other: bytes) -> bytes:
    data = bytearray(whole)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[place] = rng.randrange(256)
            case 1:
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                del data[place : place + rng.randint(1, 9)]
            case 3:
                begin = rng.randrange(len(other))
                data[place:place] = other[begin : begin + rng.randint(1, 30)]
            case _:
                data[place] = rng.choice(b"(]})aesutRbcqhjr\x94\x93\x85\x86\x87.NKMJTUXCB\x8a\x8c\x95")
        if len(data) < 4:
            break
    return bytes(data)


def test_any_damage_is_one_error_or_what_python_reads() -> None:
    rng, wholes = random.Random(3), samples()
    began, refused, read = time.process_time(), 0, 0
    for _ in range(12_000):
        data = damaged(rng, rng.choice(wholes), rng.choice(wholes))
        try:
            found = unpickled("x", data)
        except errors.DataLossError:
            refused += 1
            continue
        read += 1
        # NumPy's own code may crash where its dtypes are damaged, and the lengths of frames do not matter here.
        if b"numpy" not in data and b"\x95" not in data:
            assert same(found, of_python(data)), data
    assert refused > 6000
    assert read > 500
    assert time.process_time() - began < 60


def test_memory_goes_with_the_file() -> None:
    size = 150_000
    bombs = [
        b"]" * size, b"}" * size, b"N" * size, b"(" * size, b"N" + b"\x94" * size, b"N" + b"\x85" * size,
        b"]" + b"Na" * (size // 2), b"(" + b"\x8a\1\5" * (size // 3) + b"t", b"M\xff\xff" * (size // 3),
        b"".join(b"Nr" + struct.pack("<I", number * 4096) for number in range(size // 6)),
        b"]]a" * (size // 3), b"(" + b"\x8c\2ab" * (size // 4) + b"t", b"K\1" * (size // 2),
    ]  # fmt: skip
    tracemalloc.start()
    for bomb in bombs:
        with pytest.raises(errors.DataLossError):
            unpickled("x", b"\x80\4" + bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 130 * size


def test_deep_data_are_made_and_freed() -> None:
    depth = 500_000
    deep = unpickled("x", b"\x80\4" + b"]" * depth + b"a" * (depth - 1) + b".")
    for _ in range(depth - 1):
        (deep,) = deep
    assert deep == []
