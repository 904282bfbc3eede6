"""References: what they give for arguments, computed once for all dtypes and checks that ask for the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_testing import stopwatch
from agog_testing.opinfo import OpInfo
from agog_testing.opinfo.info import Array

Results = tuple[Array, ...]

# The results for arguments that were asked for last, of one op at a time: the kit tests one after the other.
_known: OrderedDict[tuple[Any, ...], Results] = OrderedDict()
_MOST = 1000


def results(info: OpInfo, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Results:
    """What the reference of an op gives, as arrays that nobody may change."""
    key = (info.reference, info.name, _key(args), _key(sorted(kwargs.items())))
    if (found := _known.get(key)) is not None:
        return found
    with stopwatch.stopped(), np.errstate(all="ignore"):
        given = info.reference(*args, **kwargs)
    found = tuple(map(np.array, given if isinstance(given, tuple) else (given,)))
    for array in found:
        array.flags.writeable = False
    if _known and next(iter(_known))[1] != info.name:
        _known.clear()
    _known[key] = found
    if len(_known) > _MOST:
        _known.popitem(last=False)
    return found


def _key(value: Any) -> Hashable:
    """What equal arguments have in common, and others have not."""
    if isinstance(value, np.ndarray):
        content = tuple(value.ravel().tolist()) if value.dtype == object else value.tobytes()
        return value.dtype.str, value.shape, content
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_key, value))
    return type(value), repr(value)
