"""Layers: the classes of ``tf.layers``, with defaults from the variable scope."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any, TypeVar

from agog_core import Tensor, Variable, convert_to_tensor, name_scope
from agog_layers import convolution, linear, normalization, regularization, reshaping
from agog_layers.layer.layer import Layer as Base
from agog_layers.naming.names import layer_names, scope, snake_case
from agog_layers.naming.variable_store import weight_getter
from agog_layers.tf_layers.variable_scope import get_variable_scope, unique_path
from agog_layers.tf_layers.variables import find_or_make
from agog_layers.weights import initializers

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "BatchNormalization",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "SeparableConv1D",
    "SeparableConv2D",
]

C = TypeVar("C", bound="type[Layer]")


class Layer(Base):
    """Base of the layers of ``tf.layers``. As `get_variable` does, they take what they are not given from the
    `variable_scope` around their first call: initializer, constraint and custom getter. Their variables are named as
    scopes are: the second layer of a name that is called in a scope gets a ``_1``. See `Layer`.
    """

    # The constructor's arguments for initializers that nobody gave.
    _unsaid: tuple[str, ...] = ()
    # Whether this is run once: the layer of a function.
    _runs_once = False

    def _initial_name(self, name: str | None) -> str | None:
        return name or layer_names.unique(snake_case(type(self).__name__), first=1)

    def _make_path(self) -> str:
        if self._first_network is not None:
            return super()._make_path()
        path = get_variable_scope().path + scope.get()
        base = snake_case(type(self).__name__) if self._auto_named else self.name
        # A function that names its layer means the variables of that name.
        named = path + base if self._runs_once and not self._auto_named else unique_path(path, base)
        return scope.get() + named.removeprefix(path)

    def _build_for(self, inputs: Any, leaves: list[Any]) -> None:
        initializer = get_variable_scope().initializer
        if initializer is not None:
            for name in self._unsaid:
                setattr(self, name, initializers.get(initializer))
        token = weight_getter.set(self._getter())
        try:
            super()._build_for(inputs, leaves)
        finally:
            weight_getter.reset(token)

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = (),
        dtype: Any = None,
        initializer: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Variable:
        """See `Layer.add_weight`; the variable scope's initializer is the default, and its path comes first."""
        around = get_variable_scope()
        initializer = around.initializer if initializer is None else initializer
        with name_scope(around.path):  # that of variables alone: scopes of names name no layers
            return super().add_weight(name, shape, dtype, initializer, *args, **kwargs)

    def _getter(self) -> Any:
        """The scope's function to make weights; None without one."""
        scope = get_variable_scope()
        custom = scope.custom_getter
        if custom is None and scope.constraint is None:
            return None

        def getter(name: str, **arguments: Any) -> Any:
            arguments["constraint"] = arguments["constraint"] or scope.constraint
            made = find_or_make(name, **arguments) if custom is None else custom(find_or_make, name, **arguments)
            if isinstance(made, Variable):
                return made
            if not self._runs_once:
                raise TypeError(
                    f"{self._title}: the custom getter of the variable scope returned a {type(made).__name__} for "
                    f"weight {name!r}, but a layer that is called again needs a variable. Return one, or call a "
                    "function of tf.layers, which asks at each call."
                )
            return Computed(made)

        return getter


def _noting(cls: C) -> C:
    """Let a class note which initializers its constructor was not given."""
    init: Any = cls.__init__
    _, *parameters = inspect.signature(init).parameters.values()
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    # Those that ``tf.layers`` leaves to the scope are None; the others have a default of their own.
    defaults = {
        each.name: None if each.default == "glorot_uniform" else each.default
        for each in parameters
        if each.name.endswith("_initializer")
    }

    @wraps(init)
    def noting(self: Layer, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        unsaid = tuple(name for name, default in defaults.items() if given.get(name, default) is None)
        if any(name in given for name in unsaid):  # None is no initializer of Keras
            init(self, **{name: value for name, value in given.items() if name not in unsaid})
        else:
            init(self, *args, **kwargs)
        self._unsaid = unsaid

    cls.__init__ = noting  # type: ignore[method-assign, assignment]  # the signature is the same
    return cls


@_noting
class Dense(Layer, linear.Dense):
    """`tf.keras.layers.Dense` in variable scopes. See `Dense`."""


class Dropout(Layer, regularization.Dropout):
    """`tf.keras.layers.Dropout` in variable scopes. See `Dropout`."""


class Flatten(Layer, reshaping.Flatten):
    """`tf.keras.layers.Flatten` in variable scopes. See `Flatten`."""


@_noting
class Conv1D(Layer, convolution.Conv1D):
    """`tf.keras.layers.Conv1D` in variable scopes. See `Conv1D`."""


@_noting
class Conv2D(Layer, convolution.Conv2D):
    """`tf.keras.layers.Conv2D` in variable scopes. See `Conv2D`."""


@_noting
class Conv3D(Layer, convolution.Conv3D):
    """`tf.keras.layers.Conv3D` in variable scopes. See `Conv3D`."""


@_noting
class Conv2DTranspose(Layer, convolution.Conv2DTranspose):
    """`tf.keras.layers.Conv2DTranspose` in variable scopes. See `Conv2DTranspose`."""


@_noting
class Conv3DTranspose(Layer, convolution.Conv3DTranspose):
    """`tf.keras.layers.Conv3DTranspose` in variable scopes. See `Conv3DTranspose`."""


@_noting
class SeparableConv1D(Layer, convolution.SeparableConv1D):
    """`tf.keras.layers.SeparableConv1D` in variable scopes. See `SeparableConv1D`."""


@_noting
class SeparableConv2D(Layer, convolution.SeparableConv2D):
    """`tf.keras.layers.SeparableConv2D` in variable scopes. See `SeparableConv2D`."""


class AveragePooling1D(Layer, convolution.AveragePooling1D):
    """`tf.keras.layers.AveragePooling1D` in variable scopes. See `AveragePooling1D`."""


class AveragePooling2D(Layer, convolution.AveragePooling2D):
    """`tf.keras.layers.AveragePooling2D` in variable scopes. See `AveragePooling2D`."""


class AveragePooling3D(Layer, convolution.AveragePooling3D):
    """`tf.keras.layers.AveragePooling3D` in variable scopes. See `AveragePooling3D`."""


class MaxPooling1D(Layer, convolution.MaxPooling1D):
    """`tf.keras.layers.MaxPooling1D` in variable scopes. See `MaxPooling1D`."""


class MaxPooling2D(Layer, convolution.MaxPooling2D):
    """`tf.keras.layers.MaxPooling2D` in variable scopes. See `MaxPooling2D`."""


class MaxPooling3D(Layer, convolution.MaxPooling3D):
    """`tf.keras.layers.MaxPooling3D` in variable scopes. See `MaxPooling3D`."""


@_noting
class BatchNormalization(Layer, normalization.BatchNormalization):
    """`tf.keras.layers.BatchNormalization` in variable scopes. See `BatchNormalization`."""


class Computed:
    """What a custom getter has computed of a variable, for layers to read as one."""

    def __init__(self, value: Any) -> None:
        self._value = convert_to_tensor(value)
        self.shape, self.dtype = self._value.shape, self._value.dtype

    def value(self) -> Tensor:
        """The value."""
        return self._value

    read_value = __tensor__ = value
