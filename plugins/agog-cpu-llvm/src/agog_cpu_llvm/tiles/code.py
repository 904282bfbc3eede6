"""Code: functions of a module, and the loops, turns and branches in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from llvmlite import ir

from agog_cpu_llvm.tiles.denormals import flushed
from agog_cpu_llvm.tiles.values import INDEX, POINTER, STORED, Condition, Index, Pointer, Value
from agog_cpu_llvm.tiles.vectors import Lanes

__all__ = ["Code", "Function", "Loop", "Words", "entry", "words_at"]


class Code:
    """What writes the code of one function, one instruction behind the other."""

    def __init__(self, b: ir.IRBuilder) -> None:
        self.b = b

    def number(self, number: int) -> Index:
        """A number that is known now."""
        return Index(self.b, ir.Constant(INDEX, number))

    def memory(self, dtype: str, count: int) -> Pointer:
        """Memory of the function's own for some elements, on the stack, at a cache line."""
        with self.b.goto_entry_block():
            place = self.b.alloca(ir.ArrayType(STORED[dtype], count))
        place.align = 64
        place.type = POINTER
        return Pointer(self.b, place, dtype)

    @contextmanager
    def loop(
        self,
        first: Index | int,
        end: Index | int,
        step: Index | int = 1,
        carried: Sequence[Any] = (),
        may_be_empty: bool = False,
    ) -> Iterator[Loop]:
        """A loop over ``range(first, end, step)``; values that it changes are ``carried`` from one turn to the next."""
        loop = Loop(self, self._index(first), self._index(end), self._index(step), carried, may_be_empty)
        yield loop
        loop.close()

    @contextmanager
    def turns(self, counter: Pointer, end: Index) -> Iterator[Index]:
        """Turns that threads share: each takes the next number of a common counter until none is left."""
        b = self.b
        head, body, done = (b.append_basic_block(name) for name in ("next", "take", "none"))
        b.branch(head)
        b.position_at_end(head)
        turn = Index(b, b.atomic_rmw("add", counter.ir, ir.Constant(INDEX, 1), "monotonic"))
        b.cbranch((turn < end).ir, body, done)
        b.position_at_end(body)
        yield turn
        b.branch(head)
        b.position_at_end(done)

    @contextmanager
    def when(self, condition: Condition) -> Iterator[None]:
        """Code that runs where a condition holds."""
        with self.b.if_then(condition.ir):
            yield

    def choose(self, number: Index, functions: Mapping[int, Function], *arguments: Value) -> None:
        """Call the function with a number."""
        b = self.b
        done = b.append_basic_block("chosen")
        switch = b.switch(number.ir, done)
        for case, function in functions.items():
            with b.goto_block(b.append_basic_block("case")):
                switch.add_case(ir.Constant(INDEX, case), b.block)
                function(*arguments)
                b.branch(done)
        b.position_at_end(done)

    def _index(self, number: Index | int) -> Index:
        return self.number(number) if isinstance(number, int) else number


class Loop:
    """A loop that is being written: ``index`` is its counter and ``carried`` are the values at the start of a turn.

    `carry` says what they become. Behind the loop, ``results`` are the values after the last turn.
    """

    def __init__(
        self, code: Code, first: Index, end: Index, step: Index, carried: Sequence[Any], may_be_empty: bool
    ) -> None:
        self._b = b = code.b
        self._end, self._step, self._given = end, step, carried
        self._new: Sequence[Any] = ()
        body, self._done = b.append_basic_block("turn"), b.append_basic_block("done")
        self._before = b.block if may_be_empty else None
        if may_be_empty:
            b.cbranch((first < end).ir, body, self._done)
        else:
            b.branch(body)
        before, self._body = b.block, body
        b.position_at_end(body)
        self.index = first.like(b.phi(INDEX))
        self.index.ir.add_incoming(first.ir, before)
        self.carried = []
        for value in carried:
            phi = b.phi(value.ir.type)
            phi.add_incoming(value.ir, before)
            self.carried.append(value.like(phi))
        self.results: list[Any] = []

    def carry(self, *new: Any) -> None:
        """Say what the carried values become in this turn."""
        self._new = new

    def close(self) -> None:
        """End the turn, and after the last one go on behind the loop."""
        b = self._b
        following = self.index + self._step
        last = b.block
        self.index.ir.add_incoming(following.ir, last)
        for old, new in zip(self.carried, self._new, strict=True):
            old.ir.add_incoming(new.ir, last)
        b.cbranch((following < self._end).ir, self._body, self._done)
        b.position_at_end(self._done)
        if self._before is None:
            self.results = list(self._new)
            return
        for given, new in zip(self._given, self._new, strict=True):
            phi = b.phi(new.ir.type)
            phi.add_incoming(given.ir, self._before)
            phi.add_incoming(new.ir, last)
            self.results.append(new.like(phi))


class Function:
    """A function that the others of its module call, and nobody else.

    ``kinds`` gives each parameter a name and a kind: ``"index"``, or ``"*float32"`` for the address of elements of a
    dtype. ``parameters`` are their values, and ``code`` writes what the function does, up to `Code`'s end of it.
    """

    def __init__(self, module: ir.Module, name: str, **kinds: str) -> None:
        types = [POINTER if kind.startswith("*") else INDEX for kind in kinds.values()]
        self._function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
        self._function.linkage = "internal"
        for attribute in ("noinline", "nounwind"):
            self._function.attributes.add(attribute)
        b = ir.IRBuilder(self._function.append_basic_block())
        self.code = Code(b)
        self.parameters: list[Any] = [
            Pointer(b, value, kind[1:]) if kind.startswith("*") else Index(b, value)
            for value, kind in zip(self._function.args, kinds.values(), strict=True)
        ]

    def end(self) -> None:
        """Return from the function."""
        self.code.b.ret_void()

    def __call__(self, *arguments: Value) -> None:
        """Call it from the code that the arguments come from."""
        arguments[0].b.call(self._function, [argument.ir for argument in arguments])


class Words(dict[str, Any]):
    """The arguments of an entry by name: `Index`, `Pointer`, or a number (`values.Value`) of floating point."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def words_at(place: Pointer, kinds: Mapping[str, str], *names: str) -> Words:
    """The words at an address, which entries hand to functions: those of the names, or all."""
    b = place.b
    words = Words(counter=place)
    for number, (word, kind) in enumerate(kinds.items()):
        address = (place + 1 + number).ir
        if names and word not in names:
            continue
        if kind.startswith("*"):
            words[word] = Pointer(b, b.load(address, typ=POINTER), kind[1:])
        elif kind.startswith("@"):
            words[word] = (place + 1 + number).elements(kind[1:])
        elif kind == "index":
            words[word] = Index(b, b.load(address, typ=INDEX))
        else:
            words[word] = Lanes(1, is_double=True).scalar(Pointer(b, address, "float64"))
    return words


@contextmanager
def entry(
    module: ir.Module, name: str, kinds: Mapping[str, str], flushes: bool = True
) -> Iterator[tuple[Code, Words, Pointer]]:
    """The function ``name(words, scratch)`` that threads are given; yields its code, its words and its scratch memory.

    Each word is of 64 bits. The first is ``counter``, that of turns; ``kinds`` gives the others a name and a kind: as
    those of `Function`, ``"@float32"`` for the ``id`` of an array of a dtype, or 0 for none, or ``"float64"`` for the
    bits of a number. All threads are given the same words, and each a scratch of its own. Denormal numbers are taken
    for zeros meanwhile, where it ``flushes``.
    """
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER]), name)
    function.attributes.add("nounwind")
    b = ir.IRBuilder(function.append_basic_block())
    words = words_at(Pointer(b, function.args[0], "int64"), kinds)
    with flushed(b) if flushes else nullcontext():
        yield Code(b), words, Pointer(b, function.args[1], "uint8")
    b.ret_void()
