"""Python state beside variables: NumPy arrays, and objects with a serialization as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from agog_checkpoint.graph import DTYPES
from agog_core.checkpointable import Checkpointable, notify

Array = np.ndarray[Any, Any]


class ArrayPart(Checkpointable):
    """A NumPy array as a part of an object: saved as a variable is, and restored with any shape and dtype. It is None
    while a restore has not given it."""

    def __init__(self, array: Array | None) -> None:
        self.array = array


class NumpyState(Checkpointable):
    """Saves and restores the NumPy arrays that are its attributes.

    Restoring makes the attributes that the file has and the object lacks, and may change shapes and dtypes. Arrays may
    be changed in place.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> state = NumpyState()
    >>> state.position = np.array([1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Checkpoint(state=state).write(f"{folder}/ckpt")
    ...     other = NumpyState()
    ...     _ = Checkpoint(state=other).restore(path).assert_consumed()
    >>> other.position
    array([1, 2])
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(
                f"NumpyState: the attribute {name!r} must be a NumPy array, but is {value!r} of type "
                f"{type(value).__name__}; put other objects with state beside the NumpyState, in the Checkpoint."
            )
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        if array.dtype.name not in DTYPES:
            raise ValueError(
                f"NumpyState: the attribute {name!r} has dtype {array.dtype}, which a checkpoint does not hold; use "
                "numbers or booleans."
            )
        if name in vars(self):
            vars(self)[name].array = array
        else:
            vars(self)[name] = ArrayPart(array)
            notify()

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, ArrayPart) else value

    def expect(self, names: Iterable[str]) -> None:
        """Make attributes for arrays that are being restored.

        Args:
            names: the attributes' names; those that exist stay as they are.
        """
        for name in names:
            vars(self).setdefault(name, ArrayPart(None))


class PythonState(Checkpointable):
    """Base of objects with a text or bytes as state, by `serialize` and `deserialize`.

    >>> class Notes(PythonState):
    ...     def __init__(self):
    ...         self.words = []
    ...
    ...     def serialize(self):
    ...         return " ".join(self.words)
    ...
    ...     def deserialize(self, string_value):
    ...         self.words = string_value.split()
    >>> Notes().checkpoint_state()
    {'text': ''}
    """

    def serialize(self) -> str | bytes:
        """The state for checkpoints; to be overridden.

        Returns:
            A text or bytes.

        Raises:
            NotImplementedError: it is not overridden.
        """
        raise NotImplementedError(f"{type(self).__name__} is a PythonState and needs a method serialize.")

    def deserialize(self, string_value: Any) -> None:
        """Take over what a checkpoint holds; to be overridden.

        Args:
            string_value: what `serialize` returned.

        Raises:
            NotImplementedError: it is not overridden.
        """
        raise NotImplementedError(f"{type(self).__name__} is a PythonState and needs a method deserialize.")

    def checkpoint_state(self) -> dict[str, Any]:
        """The state for checkpoints.

        Returns:
            What `serialize` returned, as a dict.

        Raises:
            TypeError: that is neither a text nor bytes.
        """
        value = self.serialize()
        if isinstance(value, bytes):
            from base64 import b64encode

            return {"base64": b64encode(value).decode()}
        if not isinstance(value, str):
            raise TypeError(
                f"PythonState: serialize of {type(self).__name__} must return a str or bytes; got {value!r} of type "
                f"{type(value).__name__}."
            )
        return {"text": value}

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over what a checkpoint holds.

        Args:
            state: what `checkpoint_state` returned.
        """
        if "base64" in state:
            from base64 import b64decode

            self.deserialize(b64decode(state["base64"]))
        else:
            self.deserialize(state["text"])


class PythonStateWrapper(PythonState):
    """The same as `PythonState`, with the names of methods that TensorFlow 1.12 has: `_serialize` and `_deserialize`.

    >>> class Counter(PythonStateWrapper):
    ...     def __init__(self):
    ...         self.count = 3
    ...
    ...     def _serialize(self):
    ...         return str(self.count)
    ...
    ...     def _deserialize(self, string_value):
    ...         self.count = int(string_value)
    >>> Counter().checkpoint_state()
    {'text': '3'}
    """

    def serialize(self) -> str | bytes:
        """The result of `_serialize`.

        Returns:
            A text or bytes.

        Raises:
            NotImplementedError: `_serialize` is not overridden.
        """
        return self._serialize()

    def deserialize(self, string_value: Any) -> None:
        """Give `_deserialize` what a checkpoint holds.

        Args:
            string_value: what `_serialize` returned.

        Raises:
            NotImplementedError: `_deserialize` is not overridden.
        """
        self._deserialize(string_value)

    def _serialize(self) -> str | bytes:
        raise NotImplementedError(f"{type(self).__name__} is a PythonStateWrapper and needs a method _serialize.")

    def _deserialize(self, string_value: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} is a PythonStateWrapper and needs a method _deserialize.")
