"""TensorFlow: what its saved models hold, as far as their variables go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from agog_checkpoint.tensorflow import TensorFlowCheckpoint, open_checkpoint
from agog_checkpoint.tensorflow.checkpoint import DAMAGE, OBJECT_GRAPH
from agog_checkpoint.tensorflow.protobuf import Message
from agog_core import Variable
from agog_core.dtypes import string
from agog_core.errors import DataLossError, UnimplementedError
from agog_saved_model.restored_object import RestoredObject

_VALUE = b"VARIABLE_VALUE"
_PARTS, _ATTRIBUTES = 1, 2  # the fields of a node
_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def load(folder: str) -> Any:
    """The variables of a saved model of TensorFlow: by the parts of the object that was saved, or by their names.

    Calling the object, or a function of it, raises UnimplementedError.
    """
    with open_checkpoint(folder) as checkpoint:
        graph = checkpoint.object_graph()
        if graph is None:
            return _by_names(folder, checkpoint)
        try:
            return _by_objects(folder, checkpoint, Message(graph))
        except DAMAGE as error:
            raise DataLossError(f"saved_model.load: the object graph in {folder!r} is damaged: {error}.") from error


class Functions(Mapping[str, Any]):
    """In the place of the functions of a saved model of TensorFlow: asking for one raises."""

    def __init__(self, folder: str, variables: list[Variable]) -> None:
        self._folder, self._variables = folder, variables

    def __getitem__(self, name: str) -> NoReturn:
        self.refuse()

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UnimplementedError: the functions are TensorFlow's."""
        self.refuse()

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def refuse(self) -> NoReturn:
        """Raise UnimplementedError, which says what is there, and what is not."""
        names = ", ".join(variable.name for variable in self._variables[:4]) + (", ..." if self._variables[4:] else "")
        raise UnimplementedError(
            f"saved_model.load: TensorFlow has written {self._folder!r}, and agog runs none of its functions; the "
            f"variables are there ({names or 'none'}): make the model in Python, and assign them."
        )


def _finished(root: RestoredObject, folder: str, variables: list[Variable]) -> RestoredObject:
    functions = Functions(folder, variables)
    vars(root).update(_restored_variables=variables, _call=functions, signatures=functions)
    return root


def _by_objects(folder: str, checkpoint: TensorFlowCheckpoint, graph: Message) -> Any:
    nodes = [Message(content) for content in graph.contents(1)]
    made: dict[int, Any] = {}
    variables: list[Variable] = []

    def node(number: int) -> Any:
        if number in made:
            return made[number]
        parts = [Message(content) for content in nodes[number].contents(_PARTS)]
        for content in nodes[number].contents(_ATTRIBUTES):
            attribute = Message(content)
            key = attribute.content(3).decode()
            if attribute.content(1) == _VALUE and key in checkpoint and checkpoint.dtype(key) is not string:
                name = attribute.content(2).decode() or key.removesuffix(_SUFFIX)
                made[number] = Variable(checkpoint.read(key), name=name)
                variables.append(made[number])
                return made[number]
        names = [part.content(2).decode() for part in parts]
        if parts and sorted(names) == sorted(map(str, range(len(parts)))):
            found = made[number] = [None] * len(parts)
            for part, name in zip(parts, names, strict=True):
                found[int(name)] = node(part.number(1))
            return found
        made[number] = whole = RestoredObject()
        for part, name in zip(parts, names, strict=True):
            value = node(part.number(1))
            if name and not hasattr(RestoredObject, name) and not name.startswith("_"):
                vars(whole)[name] = value
        return whole

    return _finished(node(0), folder, variables)


def _by_names(folder: str, checkpoint: TensorFlowCheckpoint) -> Any:
    root, variables = RestoredObject(), []
    for name in checkpoint.names():
        if name == OBJECT_GRAPH or checkpoint.dtype(name) is string:
            continue
        variables.append(Variable(checkpoint.read(name), name=name))
        *path, last = name.split("/")
        holder = root
        for each in path:
            inner = vars(holder).get(each)
            if not isinstance(inner, RestoredObject):
                vars(holder)[each] = inner = RestoredObject()
            holder = inner
        vars(holder)[last] = variables[-1]
    return _finished(root, folder, variables)
