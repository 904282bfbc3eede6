"""Pickles of plain data only: lists, dicts, numbers, texts and NumPy's arrays.

Keras has the reviews of IMDB, the newswires of Reuters and the pictures of CIFAR in pickles. A pickle is a program for
a machine with a stack, described in Python's `pickletools`; Python's own reader runs whatever functions it names. This
one knows the few operations that such data need. It calls nothing, and its results and its memory are in proportion to
the file: every list, dict and array is in one place only, so that they form a tree.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import errors

Array = np.ndarray[Any, Any]

_MOST_OBJECTS = 1 << 20  # lists, dicts, tuples and what is remembered; IMDB has 50,000
_MOST_MARKS = 100
_MOST_AXES = 32
_LONGEST_NAME = 100
_STOP, _INT1, _INT2, _INT4 = b".KMJ"
# What a pickle may name, to what is made of it here.
_NAMES = {
    "numpy ndarray": "ndarray",
    "numpy dtype": "dtype",
    "numpy.core.multiarray _reconstruct": "array",
    "numpy._core.multiarray _reconstruct": "array",
    "_codecs encode": "bytes",  # how Python 3 writes bytes for Python 2
    "__builtin__ bytes": "no bytes",
}
_DTYPES = {"O4", "O8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_ORDERS = {"<", ">", "=", "|"}


class _Name:
    """The objects named in the pickle."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _Dtype:
    """A dtype, whose byte order comes after it was remembered."""

    def __init__(self, code: str) -> None:
        self.dtype = np.dtype(code[:1] if code.startswith("O") else code)


class _Unfilled:
    """An array that comes without shape and elements."""


class _Arguments(tuple[Any, ...]):
    """A tuple of such parts, which is no data either."""

    __slots__ = ()


_PARTS = {_Name, _Dtype, _Unfilled, _Arguments}
# What may be remembered and used again, alone and in tuples; and what stands for all else.
_PLAIN = {int, float, bool, type(None), str, bytes, _Name, _Dtype}
_ONCE = object()


def unpickled(name: str, data: bytes) -> Any:
    """Read a pickle of protocol 2 to 5.

    Args:
        name: what errors call it.
        data: the pickle.

    Returns:
        Lists, dicts, tuples, numbers, None, texts, bytes and arrays. Texts of Python 2 are bytes. Arrays of numbers
        cannot be written.

    Raises:
        DataLossError: it is damaged, or holds anything else.
    """
    return _Reader(name, data).run()


class _Reader:
    """The machine: its stack, the marks on it, and what is remembered."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self.at = 0  # the next byte
        self.began = 0  # the operation's first byte
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.objects = 0
        self.encoded = 0

    def run(self) -> Any:
        if self.take(2) not in (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5"):
            raise self.lost("a pickle of protocol 2 to 5 begins otherwise")
        while True:
            self.integers()
            self.began = self.at
            operation = self.take(1)[0]
            if operation == _STOP:
                break
            if operation not in _OPERATIONS:
                raise self.lost(f"the pickle has the operation {bytes([operation])!r}, which data do not need")
            _OPERATIONS[operation](self)
        (result,) = self.pop(1)
        if self.stack or self.marks or type(result) in _PARTS:
            raise self.misfit()
        return result

    def lost(self, problem: str) -> errors.DataLossError:
        return errors.DataLossError(f"{self.name}: at byte {self.began}: {problem}.")

    def misfit(self) -> errors.DataLossError:
        operation = self.data[self.began : self.began + 1]
        return self.lost(f"the pickle's operation {operation!r} does not fit what comes before it")

    def take(self, count: int) -> bytes:
        """The next bytes."""
        found = self.data[self.at : self.at + count]
        if len(found) < count:
            raise self.lost("the pickle ends in the middle")
        self.at += count
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def integers(self) -> None:
        """All integers that come next: most of what there is, so no call is made for one."""
        data, at, end, push = self.data, self.at, len(self.data) - 4, self.stack.append
        while at < end:
            operation = data[at]
            if operation == _INT1:
                push(data[at + 1])
                at += 2
            elif operation == _INT2:
                push(data[at + 1] | data[at + 2] << 8)
                at += 3
            elif operation == _INT4:
                push(int.from_bytes(data[at + 1 : at + 5], "little", signed=True))
                at += 5
            else:
                break
        self.at = at

    def pop(self, count: int) -> list[Any]:
        """The uppermost objects, down to the last mark at most."""
        begin = len(self.stack) - count
        if begin < (self.marks[-1] if self.marks else 0):
            raise self.misfit()
        found = self.stack[begin:]
        del self.stack[begin:]
        return found

    def pop_marked(self) -> list[Any]:
        """All objects above the last mark."""
        if not self.marks:
            raise self.misfit()
        found = self.pop(len(self.stack) - self.marks[-1])
        self.marks.pop()
        return found

    def top(self, kind: type) -> Any:
        """The uppermost object, which is of a kind."""
        (found,) = self.pop(1)
        if type(found) is not kind:
            raise self.misfit()
        self.stack.append(found)
        return found

    def count(self) -> None:
        self.objects += 1
        if self.objects > _MOST_OBJECTS:
            raise self.lost(f"the pickle has more than {_MOST_OBJECTS} lists, dicts, tuples and remembered objects")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def push_container(self, value: Any) -> None:
        self.count()
        self.stack.append(value)

    def mark(self) -> None:
        if len(self.marks) == _MOST_MARKS:
            raise self.lost(f"the pickle is nested more than {_MOST_MARKS} deep")
        self.marks.append(len(self.stack))

    def text(self, size: int) -> None:
        try:
            self.push(self.take(self.number(size)).decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            raise self.lost("the pickle has a text that is no UTF-8") from None

    def long(self) -> None:
        size = self.number(1)
        if size > 8:
            raise self.lost(f"the pickle has an integer of {size} bytes, and 8 are expected at most")
        self.push(int.from_bytes(self.take(size), "little", signed=True))

    def push_tuple(self, values: list[Any]) -> None:
        self.push_container(tuple(values) if _PARTS.isdisjoint(map(type, values)) else _Arguments(values))

    def extend(self, values: list[Any]) -> None:
        if not _PARTS.isdisjoint(map(type, values)):
            raise self.misfit()
        self.top(list).extend(values)

    def update(self, values: list[Any]) -> None:
        keys = values[::2]
        whole = not len(values) % 2 and _PARTS.isdisjoint(map(type, values))
        if not whole or any(type(key) not in (str, bytes) for key in keys):
            raise self.misfit()
        self.top(dict).update(zip(keys, values[1::2], strict=True))

    def remember(self, number: int) -> None:
        """Remember the uppermost object, for use in other places where it is a plain one."""
        self.count()
        (value,) = self.pop(1)
        self.stack.append(value)
        kinds = set(map(type, value)) if type(value) is tuple and len(value) <= _MOST_AXES else {type(value)}
        self.memo[number] = value if kinds <= _PLAIN else _ONCE

    def recall(self, number: int) -> None:
        if self.memo.get(number, _ONCE) is _ONCE:
            raise self.lost("the pickle uses an object twice that is no number, text or dtype, or that it has not")
        self.push(self.memo[number])

    def line(self) -> str:
        end = self.data.find(b"\n", self.at, self.at + _LONGEST_NAME)
        if end < 0:
            raise self.lost("the pickle has a name without an end")
        return self.take(end + 1 - self.at)[:-1].decode("latin-1")

    def name_of(self, module: Any, name: Any) -> None:
        known = _NAMES.get(f"{module} {name}") if type(module) is type(name) is str else None
        if known is None:
            raise self.lost(
                f"the pickle names {str(module)[:_LONGEST_NAME]}.{str(name)[:_LONGEST_NAME]}, which is never called: "
                "only NumPy's arrays of numbers and of objects are read"
            )
        self.push(_Name(known))

    def reduce(self) -> None:
        """Make what was named of its arguments."""
        named, arguments = self.pop(2)
        if type(named) is not _Name or not isinstance(arguments, tuple):
            raise self.misfit()
        match named.kind, arguments:
            case "array", (_Name(kind="ndarray"), (0,), b"b" | "b"):
                self.push_container(_Unfilled())
            case "dtype", (str() | bytes() as code, _, _):
                code = code if isinstance(code, str) else code.decode("latin-1")
                if code not in _DTYPES:
                    raise self.lost(f"the pickle has the dtype {code[:_LONGEST_NAME]!r}, which such data do not have")
                self.push_container(_Dtype(code))
            case "bytes", (str() as text, "latin1"):
                self.encoded += len(text)
                if self.encoded > len(self.data):
                    raise self.lost("the pickle makes more bytes than it has")
                try:
                    self.push(text.encode("latin-1"))
                except UnicodeEncodeError:
                    raise self.misfit() from None
            case "no bytes", ():
                self.push(b"")
            case _:
                raise self.misfit()

    def build(self) -> None:
        """Give a dtype its byte order, or an array its shape and elements."""
        built, state = self.pop(2)
        if not isinstance(state, tuple):
            raise self.misfit()
        match built, state:
            case _Dtype(), (int(), str() | bytes() as order, None, None, None, *_):
                sign: Any = order if isinstance(order, str) else order.decode("latin-1")
                if sign not in _ORDERS:
                    raise self.misfit()
                built.dtype = built.dtype.newbyteorder(sign)
                self.push(built)
            case _Unfilled(), (int(), tuple() as shape, _Dtype() as dtype, bool() | 0 | 1 as fortran, elements):
                self.push(self.array(shape, dtype.dtype, "F" if fortran else "C", elements))
            case _:
                raise self.misfit()

    def array(self, shape: tuple[Any, ...], dtype: np.dtype[Any], order: Any, elements: Any) -> Array:
        if len(shape) > _MOST_AXES or any(type(size) is not int or size < 0 for size in shape):
            raise self.misfit()
        kind, width = (list, 1) if dtype.hasobject else (bytes, dtype.itemsize)
        fits = type(elements) is kind and len(elements) == math.prod(shape) * width
        if not fits:
            raise self.lost(f"the pickle has an array of shape {shape} and other elements than that has")
        try:
            if dtype.hasobject:
                return np.fromiter(elements, object, len(elements)).reshape(shape)  # in C's order, whatever is said
            found = np.frombuffer(elements, dtype) if elements else np.empty(0, dtype)
            return found.reshape(shape, order=order)
        except ValueError:  # sizes that no array may have, beside a size of zero
            raise self.misfit() from None


_OPERATIONS: dict[int, Callable[[_Reader], None]] = {
    operation[0]: action
    for operation, action in {
        b"\x95": lambda self: self.take(8),  # a frame's length
        b"(": _Reader.mark,
        b"N": lambda self: self.push(None),
        b"\x88": lambda self: self.push(True),
        b"\x89": lambda self: self.push(False),
        b"K": lambda self: self.push(self.number(1)),
        b"M": lambda self: self.push(self.number(2)),
        b"J": lambda self: self.push(int.from_bytes(self.take(4), "little", signed=True)),
        b"\x8a": _Reader.long,
        b"G": lambda self: self.push(struct.unpack(">d", self.take(8))[0]),
        b"U": lambda self: self.push(self.take(self.number(1))),
        b"T": lambda self: self.push(self.take(self.number(4))),
        b"C": lambda self: self.push(self.take(self.number(1))),
        b"B": lambda self: self.push(self.take(self.number(4))),
        b"\x8e": lambda self: self.push(self.take(self.number(8))),
        b"\x8c": lambda self: self.text(1),
        b"X": lambda self: self.text(4),
        b"\x8d": lambda self: self.text(8),
        b"]": lambda self: self.push_container([]),
        b"a": lambda self: self.extend(self.pop(1)),
        b"e": lambda self: self.extend(self.pop_marked()),
        b"}": lambda self: self.push_container({}),
        b"s": lambda self: self.update(self.pop(2)),
        b"u": lambda self: self.update(self.pop_marked()),
        b")": lambda self: self.push(()),
        b"t": lambda self: self.push_tuple(self.pop_marked()),
        b"\x85": lambda self: self.push_tuple(self.pop(1)),
        b"\x86": lambda self: self.push_tuple(self.pop(2)),
        b"\x87": lambda self: self.push_tuple(self.pop(3)),
        b"q": lambda self: self.remember(self.number(1)),
        b"r": lambda self: self.remember(self.number(4)),
        b"\x94": lambda self: self.remember(len(self.memo)),
        b"h": lambda self: self.recall(self.number(1)),
        b"j": lambda self: self.recall(self.number(4)),
        b"c": lambda self: self.name_of(self.line(), self.line()),
        b"\x93": lambda self: self.name_of(*self.pop(2)),
        b"R": _Reader.reduce,
        b"b": _Reader.build,
    }.items()
}
