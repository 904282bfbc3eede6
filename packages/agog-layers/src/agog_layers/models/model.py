"""Model: a layer of layers, for use by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self

from agog_core import Tensor, TensorShape, TensorSpec, cast, float32, nest
from agog_core.errors import InvalidArgumentError
from agog_core.observers.graph_node import GraphNode
from agog_layers.arguments.signature import needed_arguments
from agog_layers.calls.input_shapes import zeros_of_shape
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Ends, Symbolic
from agog_layers.models.add_loss import AddLoss
from agog_layers.models.graph import Graph, connect
from agog_layers.models.model_graph import nodes_of_model
from agog_layers.models.summary import any_batch, print_summary
from agog_layers.naming.names import UniqueNames
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import describe

__all__ = ["Model"]


class Model(Layer):
    """A layer that is made of layers.

    There are two ways to make one. Derive a class: assign layers to attributes in ``__init__``, and use them in
    ``call``. Or call layers on `Input`, and name the inputs and outputs.

    Args:
        inputs: what `Input` returned, or a list, tuple or dict of those; None in derived classes that have a ``call``.
        outputs: what layers made of the inputs, or a structure of those.
        name: the model's name; by default the class's in snake case, with a number from the second one on.
        **kwargs: further arguments of `Layer`.

    Raises:
        TypeError: only one of inputs and outputs is given, or one is no symbolic value.
        ValueError: the outputs depend on an input that is not among the inputs.

    >>> import agog_core as ag
    >>> from agog_layers import Dense, Input
    >>> class Classifier(Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = Dense(8, activation=ag.nn.relu)
    ...         self.logits = Dense(3)
    ...
    ...     def call(self, inputs):
    ...         return self.logits(self.hidden(inputs))
    >>> model = Classifier()
    >>> model(ag.zeros([2, 4])).shape
    TensorShape([2, 3])
    >>> len(model.trainable_variables)
    4
    >>> x = Input(shape=[4])
    >>> model = Model(x, Dense(3)(Dense(8, activation=ag.nn.relu)(x)))
    >>> model(ag.zeros([2, 4])).shape
    TensorShape([2, 3])
    """

    names_inside: ClassVar[bool] = True
    computes_in: ClassVar[str | None] = None
    own_parts: ClassVar[tuple[str, ...]] = ("inputs", "outputs")

    _graph: Graph | None = None
    # The specs of the inputs for which the variables were made; None if inputs were described instead.
    _built_on: Any = None

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, **kwargs: Any) -> None:
        if isinstance(inputs, str) and outputs is None:
            inputs, name = None, inputs
        super().__init__(name=name, **kwargs)
        if (inputs is None) != (outputs is None):
            given, missing = ("inputs", "outputs") if outputs is None else ("outputs", "inputs")
            raise TypeError(f"Model {self._name!r}: {given} without {missing}; a functional model needs both.")
        if inputs is not None:
            self._make_functional(Graph(str(self._name), inputs, outputs))

    def _make_functional(self, graph: Graph) -> None:
        # Past __setattr__: the checkpoint knows the layers under "layers" only.
        vars(self).update(_graph=graph, built=True)
        self._tracked_parts["layers"] = graph.layers

    @property
    def inputs(self) -> list[Any] | None:
        """The symbolic inputs of a functional model, as a list; of another one specs of what it was called on first,
        and None before that."""
        if self._input_symbols is not None or self._called_shape is None or self._built_on is None:
            return self._input_symbols
        specs = [spec for spec in nest.flatten(self._built_on) if spec is not None]
        return [TensorSpec(any_batch(spec.shape), spec.dtype) for spec in specs]

    @property
    def outputs(self) -> list[Any] | None:
        """The symbolic outputs of a functional model, as a list; of another one specs of what its first call gave, and
        None before that."""
        if self._output_symbols is not None or self._called_shape is None:
            return self._output_symbols
        shapes = [shape for shape in nest.flatten(self._called_shape) if shape is not None]
        return [TensorSpec(any_batch(shape), self.compute_dtype or float32) for shape in shapes]

    @property
    def _input_symbols(self) -> list[Symbolic] | None:
        """The symbolic inputs of a functional model; None for others."""
        return None if self._graph is None else list(self._graph.input_symbols)

    @property
    def _output_symbols(self) -> list[Symbolic] | None:
        """The symbolic outputs of a functional model; None for others."""
        return None if self._graph is None else list(self._graph.output_symbols)

    @property
    def _is_graph_network(self) -> bool:
        """Whether symbolic inputs and outputs say what the model computes; programs of TensorFlow 1 ask."""
        return self._output_symbols is not None

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Make the variables by a call, as programs of TensorFlow 1 do for models with a ``call`` of their own."""
        if not self.built:
            self(nest.map_structure(lambda leaf: cast(leaf, self.dtype or float32), inputs))

    def _first_call(self) -> Ends | None:
        if self._graph is None:
            return super()._first_call()
        return Ends(_alone(self._graph.inputs), _alone(self._graph.outputs))

    @property
    def input_names(self) -> list[str]:
        """The names of a functional model's inputs."""
        return [symbol.name for symbol in self._input_symbols or ()]

    @property
    def output_names(self) -> list[str]:
        """The names of a functional model's outputs: those of the layers that make them, with a number from the second
        output of a layer on."""
        names, found = UniqueNames(), list[str]()
        for symbol in self._output_symbols or ():
            found.append(names.unique(symbol.node.layer.name, found))
        return found

    @property
    def layers(self) -> list[Layer]:
        """The layers in attributes, in the order of assignment."""
        self._check_initialized()
        return list({id(module): module for module in self._modules() if isinstance(module, Layer)}.values())

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Find a layer of the model.

        Args:
            name: its name.
            index: its position in `layers`; instead of the name.

        Returns:
            The layer; the first of that name.

        Raises:
            ValueError: there is none, or not exactly one of the arguments is given.
        """
        return find_layer(self, self.layers, name, index)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; derived classes say how, functional models know.

        ``training`` goes on to the layers whose ``call`` has such an argument, unless it is None.
        """
        if self._graph is None:
            raise NotImplementedError(
                f"{type(self).__name__} has no `call`: a subclass of Model implements it, call(self, inputs)."
            )
        return self._graph.run(inputs, *args, **kwargs)

    def call_kinds(self) -> Any:
        """What is kept of calls where the model is saved without its class: see `agog_layers.models.call_kinds`."""
        from agog_layers.models.call_kinds import call_kinds  # here, because most programs do not need it

        return call_kinds(self)

    def _without_arrays(self, arguments: Any) -> Any:
        # A functional model's inputs have dtypes of their own.
        return super()._without_arrays(arguments) if self._graph is None else arguments

    def _converted(self, inputs: Any, leaves: list[Any]) -> tuple[Any, list[Any]]:
        if self._graph is None:
            return super()._converted(inputs, leaves)
        tensors = self._graph.converted(inputs)
        return nest.pack(self._graph.inputs, tensors), tensors

    def build(self, input_shape: Any) -> None:
        """Make the variables of all layers, by running the model on zeros; an unknown batch counts as 1, other unknown
        sizes as 32.

        A ValueError says that the model cannot be built so: its ``call`` needs further arguments, or other dtypes.
        """
        zeros = zeros_of_shape(_checked_shape(self.name, input_shape), self.dtype or "float32")
        needed = [name for name in needed_arguments(self.call)[1:] if name != "training"]
        if needed:
            raise ValueError(
                f"Model {self.name!r}: build runs the model on an input alone, so that you cannot build your model if "
                f"it has positional arguments beside the first without defaults; here it has {', '.join(needed)}. Call "
                "the model on a batch instead."
            )
        self.built = True
        self._note_inputs(zeros)
        try:
            self(zeros, **({"training": False} if "training" in needed_arguments(self.call) else {}))
        except (InvalidArgumentError, TypeError) as error:
            raise ValueError(
                f"Model {self.name!r}: build runs the model on zeros of dtype {(self.dtype or float32).name}, and "
                "cannot build your model if your layers do not support float type inputs. Call the model on a batch "
                "instead: "
                f"{error}"
            ) from error

    def _note_inputs(self, inputs: Any) -> None:
        vars(self)["_built_on"] = nest.map_structure(
            lambda leaf: TensorSpec.from_tensor(leaf) if isinstance(leaf, Tensor) else None, inputs
        )

    def _build_for(self, inputs: Any, leaves: list[Any]) -> None:
        self._note_inputs(inputs)
        if type(self).build is Model.build:  # the call that follows makes the variables
            self.built = True
        else:
            super()._build_for(inputs, leaves)

    def reset_states(self) -> None:
        """Reset the states of all stateful layers."""
        for module in self._walk(set()):
            if module is not self and getattr(module, "stateful", False):
                module.reset_states()

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Sequence[str] | None = None,
    ) -> None:
        """Print a table of the layers: the shapes of their outputs, how many parameters they have, and bytes.

        Args:
            line_length: the width of the table; None for as wide as it needs.
            positions: where each column ends: characters, or parts of the width up to 1; what is longer is cut. None
                for as wide as they need.
            print_fn: a function that takes a line; None for `print`.
            expand_nested: whether the layers of models inside are shown too, behind them.
            show_trainable: whether a column says what is trained.
            layer_range: patterns of the names of the first and the last layer to show; None for all.

        Raises:
            ValueError: the model has no variables yet, since it was not called or built; the positions are not
                ascending, one for each column; or no layer has such a name.

        >>> from agog_layers import Dense, Sequential
        >>> Sequential([Dense(3, input_shape=(4,), name="a"), Dense(1, name="b")], name="m").summary()
        Model: m
        ─────────────────────────────────────────────
        layer (type)  output shape  parameters  bytes
        ─────────────────────────────────────────────
        a (Dense)     (?, 3)                15     60
        b (Dense)     (?, 1)                 4     16
        ─────────────────────────────────────────────
        Total params: 19 (76 bytes)
        Trainable params: 19 (76 bytes)
        Non-trainable params: 0 (0 bytes)
        ─────────────────────────────────────────────
        """
        print_summary(self, line_length, positions, print_fn or print, expand_nested, show_trainable, layer_range)

    def __graph_nodes__(self) -> list[GraphNode]:
        return nodes_of_model(self)

    def get_config(self) -> dict[str, Any]:
        """Describe a functional model by its layers, and how they are called on one another; one of a derived class by
        what its constructor was given.

        A NotImplementedError says that an argument of the constructor is no data.
        """
        if self._makes_its_parts:
            return super().get_config()
        if self._graph is None:
            raise NotImplementedError(
                f"{type(self).__name__}.get_config: a model with a `call` of its own is described by its class, not by "
                "data; implement get_config, or save its weights."
            )
        return self._graph.get_config()

    @property
    def _makes_its_parts(self) -> bool:
        """Whether the class is the program's own, with a constructor that makes the layers."""
        return "_constructor_arguments" in vars(self) and not set(self.own_parts) & set(self._constructed_with())

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Self:
        """Make a model from what `get_config` returned; its weights are new.

        Args:
            config: the description.
            custom_objects: names to classes and functions of the program, which the description may name.

        Returns:
            A new model.

        Raises:
            ValueError: the description names an unknown class.
        """
        with custom_object_scope(custom_objects or {}):
            if "output_layers" not in config:
                return super().from_config(config)
            graph = Graph(config["name"], *connect(config))
            model = cls(inputs=graph.inputs, outputs=graph.outputs, name=graph.name)
            if graph.losses:
                model._make_functional(graph)
            return model

    def to_json(self, **kwargs: Any) -> str:
        """Describe the model as a JSON text.

        Args:
            **kwargs: further arguments of `json.dumps`.

        Returns:
            The text, for `model_from_json`.
        """
        import json

        return json.dumps(describe(self), **kwargs)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a term to `losses`, as layers do. Functional models take symbolic values too, which layers have made of
        their inputs: each call computes them, and the layers between belong to the model."""
        terms = nest.flatten(losses)
        super().add_loss([term for term in terms if not isinstance(term, Symbolic)])
        symbols = [term for term in terms if isinstance(term, Symbolic)]
        if not symbols:
            return
        if self._graph is None:
            raise TypeError(
                f"Model {self.name!r}: add_loss takes symbolic values in functional models, Model(inputs, outputs); "
                f"got {symbols[0]!r}. In a model with a `call` of its own, add what is computed there."
            )
        added = [*self._graph.losses, *(AddLoss()(symbol) for symbol in symbols)]
        self._make_functional(Graph(self.name, self._graph.inputs, self._graph.outputs, added))

    def add_weight(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise a NotImplementedError: models have variables in attributes."""
        raise NotImplementedError(
            f"Model {self.name!r}: a model has no add_weight or add_variable; assign a tf.Variable or a layer to an "
            "attribute."
        )


def _checked_shape(model: str, shape: Any) -> Any:
    if not isinstance(shape, (TensorShape, list, tuple)):
        raise ValueError(
            f"Model {model!r}: the input shape is not one of the valid types: build takes a tuple, a list or a "
            f"TensorShape, or a list of those; got {shape!r} of type {type(shape).__name__}."
        )
    return shape


def _alone(structure: Any) -> Any:
    """The element of a list of one; anything else unchanged."""
    return structure[0] if isinstance(structure, (list, tuple)) and len(structure) == 1 else structure


def find_layer(owner: Layer, layers: Sequence[Layer], name: str | None, index: int | None) -> Layer:
    """Find the first layer of a name, or that at a position; see `Model.get_layer`."""
    if (name is None) == (index is None):
        rule = (
            "Provide either a layer name or layer index."
            if name is None
            else "Exactly one of 'index' or 'name' must be provided."
        )
        raise ValueError(f"{type(owner).__name__}.get_layer: {rule}")
    if index is not None:
        if not -len(layers) <= index < len(layers):
            raise ValueError(
                f"{type(owner).__name__}.get_layer: no layer has index {index}; there are {len(layers)} layers."
            )
        return layers[index]
    for layer in layers:
        if layer.name == name:
            return layer
    known = ", ".join(repr(layer.name) for layer in layers) or "none"
    raise ValueError(f"{type(owner).__name__}.get_layer: no layer has the name {name!r}; the layers are {known}.")
