"""Network: the container of layers of ``tf.contrib.eager``, and a Sequential of its kind."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from agog_core import Variable
from agog_core.settable import has_changed
from agog_core.variables.name_scope import counters, current_name_scope, name_scope
from agog_layers.arguments.signature import takes_training
from agog_layers.layer.layer import Layer
from agog_layers.models.model import Model
from agog_layers.naming.names import UniqueNames, entered_scopes, layer_names, scope, snake_case

__all__ = ["Network"]

# The networks that live, by the path that their variables' names begin with.
_by_path: weakref.WeakValueDictionary[str, Network] = weakref.WeakValueDictionary()
counters.append(_by_path.clear)


class Network(Model):
    """A layer that consists of layers; `track_layer` says of which.

    Variables are named ``network/layer/variable``. The names of layers start from the beginning in each network. A
    network without a name gets one when it is first called, or when another network tracks it; a layer of several
    networks keeps its names from the first one. The `variable_scope` in which a network is made begins the names of its
    variables, wherever it is called.

    Args:
        name: the name. It must differ from the names of living networks in that scope, and of each `variable_scope`
            that was entered there.

    Raises:
        ValueError: the name has a slash in it, or is not a string.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> class Perceptron(Network):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = self.track_layer(Dense(8, activation=ag.nn.relu))
    ...         self.logits = self.track_layer(Dense(3))
    ...
    ...     def call(self, inputs):
    ...         return self.logits(self.hidden(inputs))
    >>> net = Perceptron()
    >>> net(ag.zeros([2, 4])).shape
    TensorShape([2, 3])
    >>> [v.name for v in net.variables][2:]
    ['perceptron/dense_1/kernel:0', 'perceptron/dense_1/bias:0']
    """

    _tracked_layers: list[Layer]
    _owned: dict[str, Layer]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Networks have no description: their code would be part of it."""

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not isinstance(name, str):
            kind = type(name).__name__
            raise ValueError(f"{kind}s are not valid Network names; got {name!r}. A Network's name must be a string.")
        if name and "/" in name:
            raise ValueError(f"Forward slashes ('/') are not allowed in Network names; got {name!r}.")
        super().__init__(name=name)
        # Past __setattr__: the checkpoint knows the layers under "layers" only.
        vars(self).update(_tracked_layers=[], _owned={})
        self._tracked_parts["layers"] = self._tracked_layers
        self._names_of_layers = UniqueNames()
        self._outer_scope = scope.get()
        self._name_scope = current_name_scope()

    def _initial_name(self, name: str | None) -> str | None:
        return name or None

    @property
    def name(self) -> str:
        """The network's name, behind those of the scopes that it was made in."""
        self._check_initialized()
        if self._name is None:
            raise ValueError(
                f"The network does not yet have a final name, but a name was requested for it. A {type(self).__name__} "
                "without a name gets one when it is first called, or when another network tracks it."
            )
        return self._name_scope + self._outer_scope + self._name if self._first_network is None else self._name

    def _make_path(self) -> str:
        if self._first_network is not None and self._first_network() is not None:
            return super()._make_path()
        self._first_network = None  # without its parent, a network stands by itself
        around = self._name_scope + self._outer_scope
        if self._name is None:
            taken = {*_by_path, *entered_scopes}
            self._name = layer_names.unique(around + snake_case(type(self).__name__), taken).removeprefix(around)
        path = self._outer_scope + self._name
        if around + self._name in entered_scopes or _by_path.setdefault(around + self._name, self) is not self:
            raise ValueError(
                f"A Network named {path!r} already exists (or a variable_scope was created with this name). Names must "
                "be unique."
            )
        return path

    def _call_in_scope(self, inputs: Any, leaves: list[Any], args: Any, kwargs: Any) -> Any:
        if self._first_network is not None or self._name_scope == current_name_scope():
            return super()._call_in_scope(inputs, leaves, args, kwargs)
        with name_scope(self._name_scope):
            return super()._call_in_scope(inputs, leaves, args, kwargs)

    def track_layer(self, layer: Any) -> Any:
        """Make a layer a part of the network.

        Args:
            layer: a layer, or another network.

        Returns:
            The layer.

        Raises:
            RuntimeError: ``__init__`` has not run.
            TypeError: it is not a layer.
            ValueError: the network has another layer of that name.
        """
        if "_tracked_layers" not in vars(self):
            raise RuntimeError(
                "Need to call Network.__init__ before adding layers: start "
                f"{type(self).__name__}.__init__ with super().__init__()."
            )
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        if layer._scope_path is None and (layer._first_network is None or layer._first_network() is None):
            if layer._auto_named:
                layer._name = self._names_of_layers.unique(snake_case(type(layer).__name__), self._owned)
            layer._first_network = weakref.ref(self)
        if layer._scope_path is None and layer._first_network is not None and layer._first_network() is self:
            known = self._owned.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(f"Attempt to add two Layers with the name {layer.name!r} to the same Network.")
            if any(tracked is layer for tracked in self._tracked_layers):
                return layer
        self._tracked_layers.append(layer)
        has_changed(self, "_tracked_layers")
        return layer

    @property
    def layers(self) -> list[Layer]:
        """The layers, in the order of `track_layer`."""
        self._check_initialized()
        return list(self._tracked_layers)

    def _modules(self) -> Iterable[Layer]:
        return self._tracked_layers

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables to train, layer by layer; those of a layer that is in several networks inside come several "
        "times."""
        own = [variable for variable in self._variables_in_attributes() if variable.trainable]
        return [variable for layer in self.layers for variable in layer.trainable_weights] + own

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables that are not to be trained, layer by layer."""
        own = [variable for variable in self._variables_in_attributes() if not variable.trainable]
        return [variable for layer in self.layers for variable in layer.non_trainable_weights] + own

    @property
    def weights(self) -> list[Variable]:
        """All variables, layer by layer."""
        return [variable for layer in self.layers for variable in layer.weights] + self._variables_in_attributes()

    @property
    def losses(self) -> list[Any]:
        """The current regularization losses, layer by layer."""
        return [loss for layer in self.layers for loss in layer.losses]

    @property
    def trainable(self) -> bool:
        """Always True."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError(
                "cannot mark Network as not trainable; mark its layers, or leave their variables out of var_list."
            )

    def add_weight(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise a RuntimeError: what networks have is what their layers have."""
        raise RuntimeError("add_variable is not supported in Network; make the variable in a layer, and track that.")

    def add_loss(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise a RuntimeError: what networks have is what their layers have."""
        raise RuntimeError("add_loss is not supported in Network; add the term to the loss instead.")


class Sequential(Network):
    """A network that feeds each output to the next layer or function; ``tf.contrib.eager.Sequential``.

    Args:
        layers_funcs: layers, and functions of one tensor.
        name: the network's name.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> net = Sequential([Dense(3), ag.nn.relu])
    >>> net(ag.zeros([2, 4])).shape
    TensorShape([2, 3])
    """

    _layer_calls: list[tuple[Callable[..., Any], bool]]

    def __init__(self, layers_funcs: Iterable[Any] | None = None, name: str | None = None) -> None:
        super().__init__(name)
        vars(self).update(_layer_calls=[])
        for layer_func in layers_funcs or ():
            self.add(layer_func)

    def add(self, layer_func: Any) -> None:
        """Append a layer or a function.

        Args:
            layer_func: a layer, which the network tracks, or a function of one tensor.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(layer_func, Layer):
            self.track_layer(layer_func)
            self._layer_calls.append((layer_func, takes_training(layer_func.call)))
        elif callable(layer_func):
            self._layer_calls.append((layer_func, takes_training(layer_func)))
        else:
            raise TypeError(
                f"Sequential.add() takes a tf.layers.Layer or a function; got {layer_func!r} of type "
                f"{type(layer_func)}."
            )
        has_changed(self, "_layer_calls")

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Run the layers and functions one after another; those that take ``training`` get it, unless it is None."""
        outputs = inputs
        for step, trains in self._layer_calls:
            outputs = step(outputs) if training is None or not trains else step(outputs, training=training)
        return outputs
