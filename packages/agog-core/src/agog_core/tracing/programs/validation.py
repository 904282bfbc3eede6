"""Validation: whether data is a program, before anything of it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from agog_core.dispatch.op import Op, all_ops, registry
from agog_core.dtypes import as_dtype
from agog_core.tensors.host_functions import makers
from agog_core.tracing.programs.encoding import Decoder

_RESERVED = "+reserve"
_FIELDS = {
    "op": {"name", "out", "with"},
    "create": {"name", "out", "with"},
    "update": {"name", "variables", "with"},
    "constant": {"out", "dtype", "value"},
    "read": {"variables", "out"},
    "assign": {"in", "variables"},
    "temporary": {"in", "variables"},
    "key": {"out", "with"},
    "copy": {"in", "out", "with"},
    "host": {"name", "with"},
    "fixed": {"in", "with"},
    "branch": {"in"},
    "cond": {"in", "blocks"},
    "while": {"in", "out", "blocks", "with"},
    "rows": {"in", "out", "blocks", "with"},
}
_BLOCKS = {"cond": 2, "while": 2, "rows": 1}
_DEEPEST = 64


class UnknownPartError(ValueError):
    """A program names what is not there: an op, a function on the host, or a kind of steps."""


def op_of(name: str) -> Op:
    """An op by its name; ValueError where there is none."""
    plain = name.removesuffix(_RESERVED)
    op = registry.get(plain) or all_ops().get(plain)
    if op is not None and plain != name:
        op = op.keeping or op.taking
    if op is None:
        raise UnknownPartError(f"there is no op {name!r}; a plugin or a later version of agog may have it")
    return op


def check(program: Any, arrays: Collection[str], variables: int) -> None:
    """Raise ValueError where data is no program.

    Args:
        program: the data.
        arrays: the names of the arrays.
        variables: how many there are.
    """
    if not isinstance(program, dict) or not isinstance(program.get("block"), dict):
        _fail("a program is an object with a block", program)
    block = program["block"]
    inputs, kinds, sizes = (program.get(name) for name in ("inputs_sizes", "kinds", "sizes"))
    if not (type(inputs) is int and isinstance(kinds, list) and isinstance(sizes, list) and 0 <= inputs <= len(sizes)):
        _fail("a program has kinds and sizes", kinds)
    if not isinstance(block.get("inputs"), list) or len(block["inputs"]) != len(kinds):
        _fail("a program has an input of each kind", block.get("inputs"))
    for dtype, shape in kinds:
        as_dtype(dtype)
        if not all(size is None or _is_number(size) for size in shape):
            _fail("a kind has sizes", shape)
    for place, each in enumerate(sizes):
        for where, axis in each if place < inputs else ():
            if not (_is_number(where) and where < len(kinds) and _is_number(axis) and axis < len(kinds[where][1])):
                _fail("a size is one of an input", each)
    _Check(arrays, variables, len(sizes)).block(block, set(), 0, is_whole=True)


class _Check:
    def __init__(self, arrays: Collection[str], variables: int, sizes: int) -> None:
        self.arrays, self.variables, self.sizes = arrays, variables, sizes
        self.keys: set[int] = set()
        self.temporaries: set[int] = set()
        self.decode = Decoder(self.array, self.size, _Keys(self.keys))

    def array(self, name: Any) -> Any:
        if not isinstance(name, str) or name not in self.arrays:
            _fail("an array is one of the folder", name)
        return 0

    def size(self, terms: Any) -> int:
        for factor, symbols in terms:
            if type(factor) is not int or not all(_is_number(each) and each < self.sizes for each in symbols):
                _fail("a size is made of those of inputs", terms)
        return 1

    def block(self, block: Any, known: set[int], depth: int, is_whole: bool = False) -> None:
        if depth > _DEEPEST or not isinstance(block, dict) or not isinstance(block.get("steps"), list):
            _fail("a block has steps", block)
        known = known | set(_numbers(block.get("inputs", [])))
        for place, step in enumerate(block["steps"]):
            if not isinstance(step, dict) or not isinstance(step.get("at"), str):
                _fail("a step has a line", step)
            kind = step.get("do")
            if kind not in _FIELDS:
                raise UnknownPartError(f"a step does {str(kind)[:40]!r}, which this version of agog does not know")
            if missing := _FIELDS[kind] - step.keys():
                _fail(f"the step {kind!r} has {', '.join(sorted(missing))}", step)
            self.step(kind, step, known, depth)
            known |= set(_numbers(step.get("out", [])))
            if kind == "branch" and "ways" in step:
                if place + 1 != len(block["steps"]) or not isinstance(step["ways"], list) or len(step["ways"]) != 2:
                    _fail("a branch has two ways", step)
                for way in step["ways"]:
                    if way is not None:
                        self.block(way, known, depth, is_whole)
                return
        outputs = _numbers(block.get("outputs"))
        if not known.issuperset(outputs):
            _fail("a block gives what it has made", outputs)
        if is_whole:
            self.structure(block.get("result"), len(outputs), 0)

    def step(self, kind: str, step: Mapping[str, Any], known: set[int], depth: int) -> None:
        if not known.issuperset(_numbers(step.get("in", []))):
            _fail("a step takes what was made before it", step.get("in"))
        if kind in ("op", "create", "update"):
            if not isinstance(step["name"], str):
                _fail("an op has a name", step["name"])
            op_of(step["name"])
        elif kind == "host" and step["name"] not in makers:
            raise UnknownPartError(f"there is no function {str(step['name'])[:80]!r} on the host")
        elif kind == "constant":
            as_dtype(step["dtype"])
            self.constant(step["value"])
        for name in _listed(step.get("variables", [])):
            if type(name) is not int or not (name < self.variables if name >= 0 else name in self.temporaries):
                if kind == "temporary" and type(name) is int and name < 0:
                    self.temporaries.add(name)
                else:
                    _fail("a variable is one of the folder", name)
        if kind in ("update", "read", "assign", "temporary") and not step["variables"]:
            _fail("a step has a variable", step)
        if kind in ("key", "constant", "read", "copy") and len(step["out"]) != 1:
            _fail("a step gives one value", step["out"])
        if kind in ("branch", "cond", "assign", "temporary", "copy", "fixed") and len(step["in"]) != 1:
            _fail("a step takes one value", step["in"])
        given = step.get("with", {})
        if not isinstance(given, dict):
            _fail("attributes have names", given)
        found = {name: self.decode(each) for name, each in given.items()}
        if kind == "key":
            self.keys.add(step["out"][0])
        self.facts(kind, step, found)
        blocks = step.get("blocks", [])
        if kind in _BLOCKS:
            if not isinstance(blocks, list) or len(blocks) != _BLOCKS[kind]:
                _fail("a loop or branch has blocks", blocks)
            for block in blocks:
                self.block(block, known, depth + 1)

    def facts(self, kind: str, step: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        """Check the attributes that the step itself takes."""
        wanted = {"create": {"dtype", "attributes"}, "key": {"seed", "values"}, "copy": {"device"}, "while": {"limit"}}
        wanted |= {"host": {"data", "dtypes"}, "rows": {"carried", "first", "last"}, "fixed": {"value"}}
        if missing := wanted.get(kind, set()) - found.keys():
            _fail(f"the step {kind!r} has {', '.join(sorted(missing))}", step)
        if kind == "branch" and "ways" not in step and type(found.get("outcome")) is not bool:
            _fail("a branch has an outcome", step)
        if kind == "rows" and not all(_is_number(found[name]) for name in ("carried", "first", "last")):
            _fail("rows have places", step)

    def constant(self, value: Any, depth: int = 0) -> None:
        if not isinstance(value, dict) or len(value) != 1 or depth > 1:
            _fail("a constant has a value", value)
        ((kind, content),) = value.items()
        if kind == "array":
            self.array(content)
        elif kind == "filled" and len(_listed(content)) == 2:
            self.constant(content[0], depth + 1)
            self.decode(content[1])
        elif (kind in ("elements", "inverses") and len(_listed(content)) == 3) or (
            kind == "range" and len(_listed(content)) == 4
        ):
            self.decode(content)
            as_dtype(content[-1])
        else:
            _fail("a constant has a value", value)

    def structure(self, data: Any, count: int, depth: int) -> None:
        if depth > _DEEPEST:
            _fail("a result is not nested so deeply", data)
        if isinstance(data, dict) and len(data) == 1:
            ((kind, content),) = data.items()
            if kind == "tensor":
                if not (_is_number(content) and content < count):
                    _fail("a result is one of the outputs", data)
                return
            if kind in ("slices", "sparse", "tuple"):
                for each in _listed(content):
                    self.structure(each, count, depth + 1)
                return
            if kind == "fields":
                for each in content[2]:
                    self.structure(each, count, depth + 1)
                return
            if kind == "dict":
                for key, each in content:
                    self.decode(key)
                    self.structure(each, count, depth + 1)
                return
        if isinstance(data, list):
            for each in data:
                self.structure(each, count, depth + 1)
            return
        self.decode(data)


class _Keys(dict[int, Any]):
    """Any number of a key that was drawn before."""

    def __init__(self, known: set[int]) -> None:
        super().__init__()
        self._known = known

    def __getitem__(self, number: int) -> Any:
        if number not in self._known:
            _fail("a key was drawn before", number)
        return 0


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        _fail("there is a list", value)
    return value


def _numbers(value: Any) -> list[int]:
    if not all(_is_number(each) for each in _listed(value)):
        _fail("there are numbers of values", value)
    return value  # type: ignore[no-any-return]  # as was looked at


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _fail(wanted: str, found: Any) -> NoReturn:
    raise ValueError(f"it is no program: {wanted}; got {str(found)[:80]}")
