"""State: the accumulators of metrics, with a reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from agog_core import Checkpointable, Variable, as_dtype
from agog_core.replicas import Replicas, present_replicas
from agog_layers.serialization.memory_limit import allowance
from agog_layers.weights import initializers

__all__ = ["State"]


class State(Checkpointable):
    """Base of metrics: variables with initial values.

    >>> class Total(State):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.total = self.new_variable("total", "total")
    >>> Total().variables
    [<tf.Variable 'total:0' shape=() dtype=float64, numpy=0.0>]
    """

    # Those in whose scope it was made: each has its part of what was seen.
    _replicas: Replicas | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "result" in vars(cls):
            cls.result = _of_all(vars(cls)["result"])  # type: ignore[attr-defined]  # subclasses have it

    def __init__(self) -> None:
        self._variables: dict[str, tuple[Variable, Callable[..., Any]]] = {}
        if (replicas := present_replicas()) is not None and replicas.size > 1:
            vars(self)["_replicas"] = replicas

    def new_variable(
        self, name: str, path: str, shape: Any = (), dtype: Any = "float64", initializer: Any = "zeros"
    ) -> Variable:
        """Make a variable: checkpoints call it ``name``, and its own name is ``path``."""
        make = initializers.get(initializer)
        allowance.get().take(path, shape)
        variable = Variable(make(shape, dtype=as_dtype(dtype)), trainable=False, name=path)
        self._variables[name] = variable, make
        return variable

    def __repr__(self) -> str:
        facts = [
            f"{name} {variable.shape}" if variable.shape.ndims else f"{name}={variable.numpy()}"
            for name, (variable, _) in vars(self).get("_variables", {}).items()
        ]
        name = vars(self).get("name")
        return f"<{type(self).__name__}{f' {name!r}' if name else ''}: {', '.join(facts) or 'no variables'}>"

    @contextmanager
    def summed(self) -> Iterator[None]:
        """A ``with`` block in which the variables have the sums over the replicas; nothing is added in it."""
        replicas = self._replicas
        if replicas is None:
            yield
            return
        vars(self)["_replicas"] = None  # a result may call that of its base
        own = [variable.value() for variable in self.variables]
        try:
            for variable in self.variables:
                variable.assign(replicas.all_reduce(variable.value()))
            yield
        finally:
            vars(self)["_replicas"] = replicas
            for variable, value in zip(self.variables, own, strict=True):
                variable.assign(value)

    def set_back(self) -> None:
        """Give all variables their initial values."""
        for variable, initializer in self._variables.values():
            variable.assign(initializer(variable.shape, dtype=variable.dtype))

    @property
    def variables(self) -> list[Variable]:
        """The variables, in the order in which they were made."""
        return [variable for variable, _ in self._variables.values()]

    @property
    def weights(self) -> list[Variable]:
        """The same as `variables`."""
        return self.variables

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """The parts that have state: the variables, and those in attributes."""
        parts = super().checkpoint_dependencies()
        del parts["_variables"]
        return {name: variable for name, (variable, _) in self._variables.copy().items()} | parts

    def checkpoint_dependency(self, name: str) -> Any:
        part = None if name == "_variables" else super().checkpoint_dependency(name)
        return self._variables[name][0] if part is None and name in self._variables else part


def _of_all(result: Callable[..., Any]) -> Callable[..., Any]:
    """The method that gives the result of what all replicas have seen."""

    @wraps(result)
    def of_all(self: State, *args: Any, **kwargs: Any) -> Any:
        if self._replicas is None:
            return result(self, *args, **kwargs)
        with self.summed():
            return result(self, *args, **kwargs)

    return of_all
