"""Loading: makes objects of what a folder holds, without running anything of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_checkpoint.commit import translated
from agog_core import Variable, convert_to_tensor
from agog_core.dtypes import as_dtype
from agog_core.errors import DataLossError, NotFoundError, OpError, UnimplementedError
from agog_core.files import absolute, file_path, is_file, join
from agog_core.tracing.programs.validation import UnknownPartError
from agog_saved_model.assets import Asset
from agog_saved_model.document import FILE, read_folder, tensor_of, texts
from agog_saved_model.restored_function import RestoredFunction, SignatureFunction
from agog_saved_model.restored_object import RestoredObject

__all__ = ["contains_saved_model", "load"]

# What imports modules whose functions on the host programs may name.
late_functions: list[Callable[[], object]] = []
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError, OpError)


def contains_saved_model(export_dir: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a saved model, of agog or of TensorFlow.

    Args:
        export_dir: the folder.

    Returns:
        Whether the file of one is there.

    >>> contains_saved_model("/nowhere")
    False
    """
    from agog_checkpoint.tensorflow.location import is_saved_model

    folder = file_path("saved_model.contains_saved_model", export_dir)
    return is_file(join(folder, FILE)) or is_saved_model(folder)


def load(export_dir: str | os.PathLike[str], tags: Any = None, options: Any = None) -> Any:
    """Load what `save` wrote: an object with the functions, variables and files of the one that was saved.

    Nothing of the folder is run. Of what TensorFlow wrote, variables are read; its functions are not.

    Args:
        export_dir: the folder.
        tags: accepted.
        options: accepted.

    Returns:
        An object whose attributes are variables, functions, tensors, lists and dicts, and which can be called where the
        saved one could. ``signatures`` holds functions that take tensors by name.

    Raises:
        NotFoundError: the folder holds no saved model.
        DataLossError: it is damaged.
        UnimplementedError: a later version of agog has written it, or it names an op that is not there.

    >>> import tempfile
    >>> import agog_core as ag
    >>> from agog_saved_model import save
    >>> module = ag.Module()
    >>> module.square = ag.function(lambda x: x * x, input_signature=[ag.TensorSpec([])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(module, folder)
    ...     loaded = load(folder)
    >>> print(loaded.square(3.0), loaded.signatures["serving_default"](x=ag.constant(2.0))["output_0"])
    tf.Tensor(9.0, shape=(), dtype=float32) tf.Tensor(4.0, shape=(), dtype=float32)
    """
    folder = absolute(file_path("saved_model.load", export_dir))
    if not is_file(join(folder, FILE)):
        return _of_tensorflow(folder)
    while late_functions:
        late_functions.pop()()
    document, arrays, file = read_folder(folder)
    try:
        return _Loader(folder, document, arrays).root()
    except UnknownPartError as error:
        raise UnimplementedError(f"saved_model.load: the file {file!r} cannot be used here: {error}.") from error
    except OSError as error:
        raise translated(error, "read", file) from error
    except _DAMAGE as error:
        raise DataLossError(f"saved_model.load: the file {file!r} is no whole saved model: {error}.") from error


def _of_tensorflow(folder: str) -> Any:
    from agog_checkpoint.tensorflow.location import is_saved_model

    if not is_saved_model(folder):
        raise NotFoundError(f"saved_model.load: the folder {folder!r} holds no saved model.")
    from agog_saved_model.tensorflow import load as load_variables

    return load_variables(folder)


class _Loader:
    """Makes the objects of a document."""

    def __init__(self, folder: str, document: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        self.document, self.arrays = document, arrays
        arrays |= {str(name): texts(content) for name, content in document["texts"].items()}
        paths = [_inside(folder, name) for name in document["assets"]]
        self.assets = [Asset(path) for path in paths]
        self.variables = [self._variable(each) for each in document["variables"]]
        for place, path in enumerate(paths):
            arrays[f"assets/{place}"] = _text(path)
        self.functions = [RestoredFunction(each, arrays, self.variables) for each in document["functions"]]
        self._made: dict[int, Any] = {}

    def root(self) -> Any:
        """The first object."""
        made = self.node(0, 0)
        if not isinstance(made, RestoredObject):
            raise ValueError("its first node is no object")
        signatures = {}
        for name, place in self.document["signatures"].items():
            function = self.functions[place]
            (kind,), (run,) = function._kinds, function._runs
            signatures[name] = SignatureFunction(str(name), kind, run, function.variables)
        made.signatures = signatures
        return made

    def _variable(self, data: dict[str, Any]) -> Variable:
        return Variable(tensor_of(self.arrays[data["key"]]), trainable=bool(data["trainable"]), name=str(data["name"]))

    def node(self, number: Any, depth: int) -> Any:
        """The object of a node."""
        if depth > 100 or type(number) is not int or number < 0:
            raise ValueError(f"there is no node {number!r}")
        if number in self._made:
            return self._made[number]
        ((kind, content),) = self.document["nodes"][number].items()
        if kind == "parts":
            made = self._made[number] = RestoredObject()
            for name, each in content.items():
                part = self.node(each, depth + 1)
                if name == "__call__":
                    vars(made)["_call"] = part
                elif hasattr(type(made), name):
                    vars(made)[f"_restored_{name}"] = part
                else:
                    setattr(made, name, part)
            return made
        self._made[number] = found = self._leaf(kind, content, depth)
        return found

    def _leaf(self, kind: str, content: Any, depth: int) -> Any:
        if kind == "variable":
            return self.variables[content]
        if kind == "function":
            return self.functions[content]
        if kind == "asset":
            return self.assets[content]
        if kind == "constant":
            name, dtype = content
            return convert_to_tensor(np.array(self.arrays[name]), as_dtype(dtype))
        if kind == "list":
            return [self.node(each, depth + 1) for each in content]
        if kind == "tuple":
            return tuple([self.node(each, depth + 1) for each in content])
        if kind == "dict":
            return {str(key): self.node(each, depth + 1) for key, each in content}
        raise ValueError(f"a node is {kind!r}, which this version of agog does not know")


def _inside(folder: str, name: Any) -> str:
    """The path of an asset, which is a file in the folder of assets."""
    parent, _, own = str(name).partition("/")
    if parent != "assets" or not own or own != os.path.basename(own) or own in (".", ".."):
        raise ValueError(f"{name!r} is no file of the folder")
    return join(folder, parent, own)


def _text(path: str) -> np.ndarray[Any, Any]:
    made = np.empty((), object)
    made[()] = path.encode()
    return made
