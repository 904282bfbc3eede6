"""Mapping: methods of datasets that call a function for each element."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core.errors import InvalidArgumentError, UnimplementedError
from agog_data import arguments
from agog_data.functions import ElementFunction
from agog_data.methods.pipeline import Pipeline
from agog_data.random_stream import Stream
from agog_data.stages.mapping import Filter, Map
from agog_data.stages.process_mapping import ProcessMap
from agog_data.stages.tuned_mapping import TunedMap
from agog_data.stages.vectorization import VectorizedMap
from agog_data.tuning import FOR_PROCESSES, Tuning

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class MappingMethods(Pipeline):
    """Methods of datasets that call a function for each element."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        *,
        vectorize: bool = False,
        processes: bool = False,
    ) -> Dataset:
        """The results of a function of each element.

        Random ops in the function give the same whatever the number of threads, and another value for each element and
        epoch.

        Args:
            map_func: takes the element, a tuple as several arguments; returns tensors or what converts to them, in any
                structure; a list is taken for a tuple.
            num_parallel_calls: how many threads call it, some elements ahead of the loop; the order stays. None for no
                thread, ``tf.data.AUTOTUNE`` for one for each processor that this process may use, where measurements
                say that they are faster than none.
            vectorize: whether the function also works on many elements at a time, joined along a new first axis. It
                is called once for each batch when `batch` comes next, and once for a number of elements chosen here
                when it does not. Each tensor that it returns must keep that axis.
            processes: whether it is called in ``num_parallel_calls`` processes instead of threads. They are forked when
                an element is asked for, so the function may be any; what it changes outside its result is lost,
                and it must not use a GPU or wait for another thread of the program. Results come back through
                shared memory.

        Returns:
            The dataset. Its ``output_types`` and ``output_shapes`` are those that the function returns for one element.

        Raises:
            TypeError: the function cannot be called.
            InvalidArgumentError: ``num_parallel_calls`` is below 1, or None with ``processes=True``.
            UnimplementedError: ``processes=True`` on a system that cannot fork.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(3).map(lambda x: x * x if x.numpy() > 1 else -x)]
        [0, -1, 4]
        >>> squares = Dataset.range(6).shuffle(6, seed=1).map(lambda x: x * x, vectorize=True).batch(3)  # two calls
        """
        calls = arguments.parallel_calls("map", num_parallel_calls)
        if processes and calls is None:
            raise InvalidArgumentError("map: processes=True needs num_parallel_calls, the number of processes.")
        if processes and not hasattr(os, "fork"):
            raise UnimplementedError(
                f"map: processes=True forks processes, which {sys.platform} cannot; leave it out to use threads."
            )
        if vectorize:
            return self._then(VectorizedMap(self._stage, map_func, calls, processes))
        function, stream = ElementFunction("map", map_func), Stream(None)
        is_tuned = calls is not None and num_parallel_calls == arguments.AUTOTUNE
        if processes:
            tuning = Tuning(FOR_PROCESSES) if is_tuned else None
            count = tuning.workers if tuning else calls
            return self._then(ProcessMap(self._stage, function, count, stream, tuning))
        kind = TunedMap(self._stage, function, stream) if is_tuned else Map(self._stage, function, calls, stream)
        return self._then(kind)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a predicate holds.

        Args:
            predicate: takes the element, a tuple as several arguments; returns a bool or a scalar boolean tensor.

        Returns:
            The dataset.

        Raises:
            TypeError: the predicate cannot be called.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(5).filter(lambda x: x % 2 > 0)]
        [1, 3]
        """
        return self._then(Filter(self._stage, predicate))
