"""Graph: the calls of layers between the inputs and the outputs of a functional model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agog_core import Tensor, TensorShape, cast, convert_to_tensor, expand_dims, nest
from agog_layers.arguments.signature import takes_training
from agog_layers.layer.symbolic import Node, Symbolic
from agog_layers.models.input import InputLayer
from agog_layers.serialization.description import describe, revive

__all__ = ["Graph", "connect"]


class Graph:
    """The calls of layers from inputs to outputs, which are structures of symbolic values, and to losses added by
    layers.

    A TypeError says that one is no symbolic value; a ValueError if an input is a layer's output, two layers have one
    name, or the outputs depend on a missing input.
    """

    def __init__(self, name: str, inputs: Any, outputs: Any, losses: Sequence[Symbolic] = ()) -> None:
        self.name, self.inputs, self.outputs, self.losses = name, inputs, outputs, list(losses)
        self.input_symbols: list[Symbolic] = nest.flatten(inputs)
        self.output_symbols: list[Symbolic] = nest.flatten(outputs)
        for what, symbols in (("inputs", self.input_symbols), ("outputs", self.output_symbols)):
            for symbol in symbols:
                if not isinstance(symbol, Symbolic):
                    raise TypeError(
                        f"Model {name!r}: {what} must be symbolic: tf.keras.Input(...), or what layers make of it; "
                        f"got {symbol!r} of type {type(symbol).__name__}."
                    )
        for symbol in self.input_symbols:
            if not isinstance(symbol.node.layer, InputLayer):
                raise ValueError(
                    f"Model {name!r}: inputs must come from tf.keras.Input; {symbol!r} is an output of layer "
                    f"{symbol.node.layer.name!r}."
                )
        self.nodes = self._sorted_nodes()
        self.layers = _by_depth(self.nodes)
        self._check_names()
        self._steps = [
            (node, takes_training(node.layer.call) and "training" not in node.kwargs)
            for node in self.nodes
            if not isinstance(node.layer, InputLayer)
        ]

    def _sorted_nodes(self) -> list[Node]:
        """The calls, each after those that it needs."""
        known = {id(symbol.node) for symbol in self.input_symbols}
        order = list({id(symbol.node): symbol.node for symbol in self.input_symbols}.values())
        pending = [(symbol.node, False) for symbol in reversed([*self.output_symbols, *self.losses])]
        while pending:
            node, ready = pending.pop()
            if ready:
                order.append(node)
            elif id(node) not in known:
                if isinstance(node.layer, InputLayer):
                    raise ValueError(
                        f"Model {self.name!r}: the outputs depend on input {node.layer.name!r}, which is not among the "
                        f"inputs {[symbol.name for symbol in self.input_symbols]}."
                    )
                known.add(id(node))
                pending.append((node, True))
                pending += [(symbol.node, False) for symbol in reversed(node.parents())]
        return order

    def _check_names(self) -> None:
        names = [layer.name for layer in self.layers]
        several = sorted({name for name in names if names.count(name) > 1})
        if several:
            raise ValueError(
                f"Model {self.name!r}: several layers have the names {several}, by which descriptions tell them apart; "
                "name them differently."
            )

    def run(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Make the calls on tensors in the structure of the inputs; layers that take ``training`` get it."""
        values = {id(symbol): x for symbol, x in zip(self.input_symbols, self.flat(inputs), strict=True)}

        def value(leaf: Any) -> Any:
            return values[id(leaf)] if isinstance(leaf, Symbolic) else leaf

        for node, trains in self._steps:
            x = value(node.inputs) if isinstance(node.inputs, Symbolic) else nest.map_structure(value, node.inputs)
            args = [nest.map_structure(value, argument) for argument in node.args]
            kwargs = {name: nest.map_structure(value, argument) for name, argument in node.kwargs.items()}
            if trains and training is not None:
                kwargs["training"] = training
            results = node.layer(x, *args, **kwargs)
            for symbol, result in zip(nest.flatten(node.outputs), nest.flatten(results), strict=True):
                values[id(symbol)] = result
        return nest.map_structure(value, self.outputs)

    def flat(self, inputs: Any) -> list[Any]:
        """List what stands for the inputs in a structure like theirs, or in a dict by their names."""
        names = [symbol.name for symbol in self.input_symbols]
        if nest.is_mapping(inputs) and not nest.is_mapping(self.inputs):
            missing = [name for name in names if name not in inputs]
            if missing:
                raise ValueError(f"Model {self.name!r}: no value for the inputs {missing}; got {sorted(inputs)}.")
            return [inputs[name] for name in names]
        values = nest.flatten(inputs)
        if len(values) != len(names):
            raise ValueError(f"Model {self.name!r} has the {len(names)} inputs {names}; got {len(values)} values.")
        return values

    def converted(self, inputs: Any) -> list[Tensor]:
        """Make tensors of what a model is called on, in the order of ``input_symbols``.

        Arrays take the inputs' dtypes.
        """
        tensors = []
        for symbol, value in zip(self.input_symbols, self.flat(inputs), strict=True):
            tensor = _of_rank(value if isinstance(value, Tensor) else _of_dtype(value, symbol.dtype), symbol.shape)
            if not symbol.shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"Model {self.name!r}: input {symbol.name!r} has shape {symbol.shape}; got a value of shape "
                    f"{tensor.shape}."
                )
            tensors.append(tensor)
        return tensors

    # The description is that of Keras: calls are named by the layer and the call's number among those in the model.

    def get_config(self) -> dict[str, Any]:
        """Describe the layers and their calls by what JSON can hold."""
        numbers: dict[int, int] = {}
        calls: dict[int, list[Node]] = {}
        for node in self.nodes:
            calls.setdefault(id(node.layer), []).append(node)
            numbers[id(node)] = len(calls[id(node.layer)]) - 1

        def place(symbol: Symbolic) -> list[Any]:
            outputs = [id(each) for each in nest.flatten(symbol.node.outputs)]
            return [symbol.node.layer.name, numbers[id(symbol.node)], outputs.index(id(symbol))]

        def call(node: Node) -> dict[str, Any]:
            arguments = [_located(part, place) for part in (node.inputs, list(node.args), node.kwargs)]
            return dict(zip(("inputs", "args", "kwargs"), arguments, strict=True))

        layers = [
            {**describe(layer), "name": layer.name, "inbound_nodes": [call(n) for n in calls[id(layer)] if n.parents()]}
            for layer in self.layers
        ]
        return {
            "name": self.name,
            "layers": layers,
            "input_layers": _located(self.inputs, place),
            "output_layers": _located(self.outputs, place),
            **({"loss_layers": _located(self.losses, place)} if self.losses else {}),
        }


def connect(config: Mapping[str, Any], made_layers: Mapping[str, Any] | None = None) -> tuple[Any, Any, Any]:
    """Make the layers that `Graph.get_config` described, unless they are given, and call them; return the inputs, the
    outputs and what is added to the loss."""
    layers = made_layers or {
        entry["name"]: revive({"class_name": entry["class_name"], "config": entry["config"]}, "layer")
        for entry in config["layers"]
    }
    made: dict[tuple[str, int], list[Symbolic]] = {}
    waiting = [(entry["name"], number, c) for entry in config["layers"] for number, c in enumerate(_calls(entry))]

    def found(data: Any) -> Any:
        return _placed(data, lambda name, call, output: made[name, call][output])

    while waiting:
        ready = [item for item in waiting if all(key in made for key in _needs(item[2]))]
        if not ready:
            raise ValueError(
                f"The description's calls {[item[:2] for item in waiting]} need outputs that no call makes."
            )
        waiting = [item for item in waiting if item not in ready]
        for name, number, call in sorted(ready, key=lambda item: item[1]):
            layer = layers[name]
            outputs = (
                layer.output
                if call is None
                else layer(found(call["inputs"]), *found(call["args"]), **found(call["kwargs"]))
            )
            made[name, number] = nest.flatten(outputs)
    return found(config["input_layers"]), found(config["output_layers"]), found(config.get("loss_layers", []))


def _calls(entry: dict[str, Any]) -> list[Any]:
    return entry["inbound_nodes"] or [None]


def _needs(call: Any) -> list[tuple[str, int]]:
    needed: list[tuple[str, int]] = []
    if call is not None:
        _placed(call, lambda name, number, output: needed.append((name, number)))
    return needed


def _located(structure: Any, place: Any) -> Any:
    """A structure as data, with the places of symbolic values in it."""
    if isinstance(structure, Symbolic):
        return {"symbol": place(structure)}
    if isinstance(structure, (list, tuple)):
        return [_located(part, place) for part in structure]
    if nest.is_mapping(structure):
        return {key: _located(part, place) for key, part in structure.items()}
    return describe(structure)


def _placed(data: Any, find: Any) -> Any:
    if isinstance(data, list):
        return [_placed(part, find) for part in data]
    if nest.is_mapping(data):
        if set(data) == {"symbol"}:
            return find(*data["symbol"])
        return {key: _placed(part, find) for key, part in data.items()}
    return data


def _by_depth(nodes: Sequence[Node]) -> list[Any]:
    """The layers, those farthest from the outputs first, as Keras orders them."""
    depths: dict[int, int] = {}
    layer_depths: dict[int, int] = {}
    for node in reversed(nodes):
        depth = max(depths.get(id(node), 0), layer_depths.get(id(node.layer), 0))
        depths[id(node)] = layer_depths[id(node.layer)] = depth
        for symbol in node.parents():
            depths[id(symbol.node)] = max(depths.get(id(symbol.node), 0), depth + 1)
    layers = {id(node.layer): node.layer for node in nodes}
    return sorted(layers.values(), key=lambda layer: -layer_depths[id(layer)])


def _of_rank(tensor: Tensor, shape: TensorShape) -> Tensor:
    """A tensor of an input's rank, where only a last axis of size 1 is missing: one number for each example."""
    if shape.ndims is not None and tensor.ndim == shape.ndims - 1 and tensor.ndim and shape[-1] == 1:
        return expand_dims(tensor, -1)
    return tensor


def _of_dtype(value: Any, dtype: Any) -> Tensor:
    """A tensor of the input's dtype, where only the precision differs."""
    tensor = convert_to_tensor(value, preferred_dtype=dtype)
    if tensor.dtype.is_floating and dtype.is_floating and tensor.dtype != dtype:
        return cast(tensor, dtype)
    return tensor
