"""Graph only: functions for graphs alone, which raise an error with advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from agog_compat.advice import refused
from agog_core.variables.name_scope import reset_names

__all__ = ["Graph", "InteractiveSession", "Session", "reset_default_graph"]


class Refused:
    """The functions of a namespace that raise, as attributes.

    >>> Refused("tf.summary").merge([])
    Traceback (most recent call last):
    RuntimeError: Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    @property
    def __all__(self) -> list[str]:
        names = [name.rpartition(".") for name in refused()]
        return [last for namespace, _, last in names if namespace == self._namespace]

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _refused(f"{self._namespace}.{name}")


def _refused(name: str) -> Callable[..., NoReturn]:
    if name not in refused():
        raise AttributeError(name)
    error, advice = refused()[name]
    sentence = advice if advice.startswith("agog") else advice[0].upper() + advice[1:]
    text = f"{_what(name)} is not compatible with eager execution. {sentence}."

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise error(text)

    function.__dict__["refusal"] = text
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"""Raise: {text}

    Args:
        *args: not used.
        **kwargs: not used.

    Raises:
        {error.__name__}: always.
    """
    return function


def _what(name: str) -> str:
    if name in ("tf.summary.merge", "tf.summary.merge_all"):
        return "Merging tf.summary.* ops"
    return name if name.rpartition(".")[2][0].isupper() else f"{name}()"


class Session:
    """What runs graphs in TensorFlow. It can be made, but there is no graph to run.

    >>> with Session() as session:
    ...     pass
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        self.graph = graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> NoReturn:
        """Raise: there is no graph.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "The Session graph is empty: agog has no graphs, and ops run as they are called. Call the function that "
            "computes the tensor; tensor.numpy() is its value."
        )

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Do nothing: variables are kept by the program's objects, not by a server.

        >>> Session.reset("")
        """

    def close(self) -> None:
        """Do nothing."""

    def as_default(self) -> Self:
        """The session, which is a context manager.

        Returns:
            The session.
        """
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class InteractiveSession(Session):
    """A `Session` for a shell."""


class Graph:
    """A graph in TensorFlow. It can be made, but ops do not go into it.

    >>> graph = Graph()
    """

    def as_default(self) -> NoReturn:
        """Raise: ops cannot be put into a graph.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "tf.Graph.as_default is not supported: agog has no graphs, and ops run as they are called. Leave the "
            "`with` statement out; tf.device, tf.name_scope and functions need no graph."
        )


def reset_default_graph() -> None:
    """Let the numbers behind names begin anew; there is no graph to forget."""
    reset_names()
