"""Memory: the values of variables, and all ways to change them: copy-on-write."""

from __future__ import annotations

import gc
import itertools
import threading
from collections.abc import Iterable, Sequence
from sys import getrefcount
from typing import Any
from weakref import WeakSet, ref

from agog_core.checkpointable import State, notify
from agog_core.locks import hold_while_forking
from agog_core.recording import next_id
from agog_core.tensors.tensor import Tensor, wrap

# Held while variables are updated in place; reentrant, because a signal handler may read them meanwhile.
updating = hold_while_forking(threading.RLock())
# Variables made while a restore waits, until the first read, update or release: a plain list tells nobody that it has
# got a variable, so the first read asks whether a restore has a value for it.
unread: WeakSet[Memory] = WeakSet()
# Something from the first question for a version on: until then nobody needs to note where the values of variables are.
asked: list[None] = []
# The variables by the addresses of the arrays that hold their values. What is no longer true is found out by looking at
# the variable, so nobody has to take it out: when there is much of it, `_keep` does.
_variables: dict[int, ref[Memory]] = {}
# The next number, one count for all memory, so that an address and a version together never stand for two values.
_next_version = itertools.count(1).__next__
# How many entries there may be before `_keep` takes out those that are no longer true.
_most = 1000


class Memory(State):
    """Base of `Variable`: its value, which this module alone writes, and nobody reads while an update has taken it."""

    # There is one unless it is taken.
    _tensor: Tensor
    _taken: Tensor | None = None
    # The value again, where its memory is lent: held twice, it looks as if somebody else had it, and is never written.
    _lent: Tensor | None = None
    _version: int | None
    _address: int

    def _put(self, tensor: Tensor) -> None:
        """Give the variable a value, while `updating` is held."""
        self._tensor = tensor
        self._lent = self._taken = None  # an interrupt may have left a taken one
        if asked:
            _keep(self, tensor._array)

    def _await(self) -> Tensor:
        """The present value, once the update that has taken it is done."""
        is_own = updating._is_owned()
        with updating:
            if (taken := self._taken) is None:
                return self._tensor
            is_first = self in unread
            unread.discard(self)
            if is_own and not is_first:  # the update is this thread's, interrupted by a signal handler or a finalizer
                return wrap(taken._table.device.copy(taken._array), taken._table, taken._shape)
            # A Ctrl-C has ended the update before it gave the value back.
            self._tensor, self._taken = taken, None
        if is_first:
            notify(None, "", self)
        return getattr(self, "_tensor", taken)

    def _hold_back(self) -> None:
        """Take a new value away, as an update does, until somebody wants it."""
        self._taken = self._tensor
        del self._tensor
        unread.add(self)


def lend(tensor: Tensor, variable: Memory) -> None:
    """Give a variable a value without a copy, in read-only memory such as a mapped file's.

    The first update in place copies it, and the variable lets go of that memory then.

    >>> import agog_core as ag
    >>> v, tensor = ag.Variable([1.0, 2.0]), ag.constant([3.0, 4.0])
    >>> lend(tensor, v)
    >>> v.assign_add([1.0, 1.0]).numpy(), tensor.numpy()
    (array([4., 5.], dtype=float32), array([3., 4.], dtype=float32))
    """
    with updating:
        variable._tensor = variable._lent = tensor
        variable._taken = None
        _keep(variable, tensor._array)


def release(variables: Iterable[Memory]) -> None:
    """Let variables be read without asking, since whoever waits for them has been told of them."""
    for variable in variables:
        if variable in unread:
            unread.discard(variable)
            if variable._taken is not None:
                variable._tensor, variable._taken = variable._taken, None


# Updates in place.


def take(variables: Sequence[Memory]) -> list[Any]:
    """Take the arrays of variables for an in-place update, while `updating` is held; other threads wait to read the
    variables.

    Args:
        variables: the variables.

    Returns:
        Their arrays, which nobody else holds.
    """
    arrays = []
    for variable in variables:
        try:
            tensor = variable._taken = variable._tensor
        except AttributeError:  # an interrupt has ended the update that took it
            tensor = variable._taken = variable._tensor = variable._await()
        del variable._tensor  # so that no other thread begins to read what is being written
        array = tensor._array
        if (
            getrefcount(tensor) > _OWN_HOLDERS
            or getrefcount(array) > _OWN_ARRAY_HOLDERS
            or (tensor._table.base is not None and _is_seen(tensor))
        ):
            array = _in_a_copy(variable, tensor)
        else:
            if tensor._watch is not None:  # no tape has seen the value that it will have
                tensor._watch = None
                tensor._id = next_id()
            variable._version = None  # nor any kernel
        arrays.append(array)
    return arrays


def _is_seen(tensor: Tensor) -> bool:
    """Whether other arrays see a variable's memory, where the references to its own array do not tell."""
    array = tensor._array
    owner = tensor._table.device.owner(array)
    return owner is not array and getrefcount(owner) > _OWN_OWNER_HOLDERS


def _count_own_holders() -> tuple[int, int, int]:
    """The reference counts of a tensor, an array, and the owner of its memory, that only a variable holds, as this
    interpreter counts them."""

    class Array:
        def __init__(self) -> None:
            self.memory = object()

    class Holder:
        taken: Tensor

        def __init__(self) -> None:
            self.tensor = object.__new__(Tensor)
            self.tensor._array = Array()

    holder = Holder()
    tensor = holder.taken = holder.tensor
    del holder.tensor
    array = tensor._array
    holders = getrefcount(tensor), getrefcount(array)
    owner = array.memory
    return *holders, getrefcount(owner)


_OWN_HOLDERS, _OWN_ARRAY_HOLDERS, _OWN_OWNER_HOLDERS = _count_own_holders()


def _in_a_copy(variable: Memory, tensor: Tensor) -> Any:
    """The array of a copy that a variable has from now on; the same array where nobody can write it."""
    if not tensor._table.device.backend.writable:
        variable._lent = variable._version = None
        return tensor._array
    array = tensor._table.device.copy(tensor._array)
    variable._taken = wrap(array, tensor._table, tensor._shape)
    variable._lent = None
    if asked:
        _keep(variable, array)
    return array


def give_back(variables: Sequence[Memory], updated: Sequence[Any] | None = None) -> None:
    """Return the variables taken by `take`, with new arrays if the old ones were not written."""
    if updated is None:
        for variable in variables:
            if (taken := variable._taken) is not None:
                variable._tensor, variable._taken = taken, None
        return
    for variable, array in zip(variables, updated):  # noqa: B905  # strict takes as long as the rest
        if (taken := variable._taken) is not None:
            if array is not taken._array:
                taken = wrap(array, taken._table, taken._shape)
            variable._tensor = taken
            variable._taken = None
            if asked:
                _keep(variable, array)


# Versions: whether a value has been written since somebody looked at it.


def version(array: Any) -> int | None:
    """The version of the value in a variable's memory: another number after each write.

    A kernel may cache a copy of a weight, such as a blocked one, under the memory's address and this number, without a
    reference to the memory: no two values ever have both in common.

    Args:
        array: an array that a kernel has been given.

    Returns:
        The version, or None if the array is no variable's, of which nothing may be kept.

    >>> from agog_core.variables.variable import Variable
    >>> v = Variable([1.0])
    >>> first = version(v.value()._array)
    >>> first == version(v.value()._array), first == version(v.assign_add([1.0]).value()._array)
    (True, False)
    """
    if not asked:
        _begin()
    found = _variables.get(id(array))
    variable = None if found is None else found()
    if variable is None or not _holds(variable, array):
        return None
    if variable._version is None:
        variable._version = _next_version()
    return variable._version


def _begin() -> None:
    """Note where the values of all variables are that exist by now."""
    asked.append(None)  # first, so that none is missed that another thread makes meanwhile
    for each in gc.get_objects():
        if issubclass(type(each), Memory) and (tensor := getattr(each, "_tensor", each._taken)) is not None:
            _keep(each, tensor._array)


def _keep(variable: Memory, array: Any) -> None:
    """Note that a variable's value is in an array from now on; versions of it are counted from here."""
    variable._version = None
    variable._address = address = id(array)
    _variables[address] = ref(variable)
    if len(_variables) > _most:
        _forget_others()


def _holds(variable: Memory, array: Any) -> bool:
    tensor = getattr(variable, "_tensor", None)  # while it is being updated it has none
    return tensor is not None and tensor._array is array


def _forget_others() -> None:
    """Take out arrays that no variable holds any more."""
    global _most
    known = list(_variables.items())
    for address in [a for a, found in known if (variable := found()) is None or variable._address != a]:
        _variables.pop(address, None)
    _most = 2 * len(_variables) + 1000
