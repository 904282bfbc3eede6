"""Layer: variables with a function of inputs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

from agog_core import Tensor, TensorShape, Variable, as_dtype, device, nest
from agog_core.checkpointable import notify
from agog_core.dispatch.devices.lookup import scope_device
from agog_core.random import initializing
from agog_core.variables.name_scope import current_name_scope
from agog_layers.arguments.checks import refuse_unknown
from agog_layers.arguments.signature import NOT_GIVEN, accepts, first_of, takes
from agog_layers.calls.learning_phase import learning_phase_scope
from agog_layers.calls.masks import all_of, known, mask_of, pass_on
from agog_layers.layer.inference import call_symbolic, output_shape
from agog_layers.layer.input_spec import Specified
from agog_layers.layer.module import Module, Weight, current_call
from agog_layers.layer.precision import Precise
from agog_layers.layer.symbolic import Connected, Symbolic
from agog_layers.layer.tf1_methods import OlderNames
from agog_layers.naming.names import layer_names, scope, snake_case, weight_name
from agog_layers.naming.variable_store import kept, weight_getter
from agog_layers.serialization.description import constructor_arguments
from agog_layers.serialization.memory_limit import allowance
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["Layer"]

Constraint = Callable[[Tensor], Tensor]

# Held while a layer makes its weights, so that two threads do not make them twice.
_building = threading.RLock()

# Arguments that a description leaves out: other forms of ``batch_input_shape``, values, and what layers rarely have.
_SHAPES = ("input_shape", "input_dim", "batch_size", "weights")
_OPTIONAL = ("batch_input_shape", "activity_regularizer")


class Layer(Connected, Specified, OlderNames, Precise, Module):
    """Base of layers and models: an object with variables, that is called on tensors.

    Subclasses make their variables in `build`, which runs on the first call and knows the input's shape, and compute
    in `call`. Layers and variables in attributes, also in lists, tuples and dicts, belong to the layer: its lists of
    variables include theirs, and checkpoints save them under the attributes' names.

    Args:
        trainable: whether `trainable_variables` lists the variables.
        name: the layer's name; by default the class's in snake case, with a number from the second one on.
        dtype: the dtype of the variables, or a `Policy` or its name; by default the global policy, or that of the first
            input if it is a tensor, or float32. Arrays of floats become floats of the layer's dtype.
        input_shape: the shape of one example, without the batch axis; it lets a `Sequential` build the layer when it
            is added.
        batch_input_shape: the input's shape with the batch axis, instead of ``input_shape``.
        input_dim: the same as ``input_shape=(input_dim,)``.
        batch_size: the size of the batch axis; None for any.
        activity_regularizer: a function of an output, or its name, whose result `losses` lists until the next call.
        weights: arrays for the variables to begin with, in the order of `weights`.

    >>> import agog_core as ag
    >>> class Scale(Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight("factor", shape=input_shape[1:], initializer="ones")
    ...
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> layer = Scale()
    >>> print(layer(ag.constant([[1.0, 2.0]])))
    tf.Tensor([[1. 2.]], shape=(1, 2), dtype=float32)
    >>> [v.name for v in layer.variables]
    ['scale/factor:0']
    """

    built = False
    # Whether a list of inputs is an error.
    single_input: ClassVar[bool] = False
    # Whether inputs that are no floats are an error.
    needs_floats: ClassVar[bool] = False
    # Whether each call is told from the next, for the names of layers that are first called inside, and for losses.
    names_inside: ClassVar[bool] = False
    # Whether the mask of the input is the output's too.
    supports_masking: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A subclass says in its head which of these three hold: ``class Scale(Layer, single_input=True)``."""
        for fact in ("single_input", "needs_floats", "supports_masking"):
            if fact in kwargs:
                setattr(cls, fact, kwargs.pop(fact))
        super().__init_subclass__(**kwargs)

    _name: str | None
    _scope_path: str | None
    # What `weights` of the constructor was.
    _first_weights: Any = None
    # The shapes of what the first call returned.
    _called_shape: Any = None
    # The network that names the layer.
    _first_network: weakref.ref[Layer] | None = None

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        *,
        input_shape: Any = None,
        batch_input_shape: Any = None,
        input_dim: int | None = None,
        batch_size: int | None = None,
        activity_regularizer: Any = None,
        weights: Any = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            refuse_unknown(type(self).__name__, unknown, constructor_arguments(type(self)))
        super().__init__(trainable)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        if activity_regularizer is not None:
            self._count_calls()
        self._name = self._initial_name(name)
        self._auto_named = not name
        vars(self)["_first_weights"] = weights  # past __setattr__, since arrays are no parts
        self._scope_path = None
        self._set_precision(dtype)
        if input_dim is not None:
            input_shape = (input_dim,)
        if input_shape is not None:
            batch_input_shape = (batch_size, *TensorShape(input_shape))
        self.batch_input_shape = None if batch_input_shape is None else TensorShape(batch_input_shape)

    def _initial_name(self, name: str | None) -> str | None:
        return name or layer_names.unique(snake_case(type(self).__name__))

    @property
    def name(self) -> str:
        """The layer's name."""
        self._check_initialized()
        assert self._name is not None
        return self._name

    def __call__(self, inputs: Any = NOT_GIVEN, *args: Any, **kwargs: Any) -> Any:
        """Run the layer; the first call makes the variables.

        Args:
            inputs: a tensor, what can be converted to one, or a structure of those; by name, it has that of `call`'s
                first argument.
            *args: further arguments of `call`.
            **kwargs: further arguments of `call`.

        Returns:
            What `call` returns.
        """
        if kwargs and "training" in kwargs and not accepts(self.call, "training"):
            return self._call_untold(inputs, *args, **kwargs)
        if type(inputs) is Tensor:
            if self.built and not (self.names_inside or known):  # the most frequent call
                return self.call(inputs, *args, **kwargs)
            leaves = [inputs]
        elif inputs is NOT_GIVEN:
            return self(*first_of(self._title, self.call, kwargs), **kwargs)
        else:
            leaves = nest.flatten(inputs)
            if Symbolic in map(type, leaves):
                return call_symbolic(self, inputs, args, kwargs)
            inputs, args, kwargs = self._without_arrays((inputs, args, kwargs))
            inputs, leaves = self._converted(inputs, nest.flatten(inputs))
        if known and (mask := mask_of(inputs, leaves)) is not None:
            return self._call_with_mask(inputs, leaves, mask, args, kwargs)
        if self.built and not self.names_inside:
            return self.call(inputs, *args, **kwargs)
        return self._call_in_scope(inputs, leaves, args, kwargs)

    def _call_untold(self, inputs: Any, *args: Any, training: Any, **kwargs: Any) -> Any:
        """A call with ``training`` of a layer that does not take it: the layers inside it learn it all the same."""
        with nullcontext() if training is None else learning_phase_scope(bool(training)):
            return self(inputs, *args, **kwargs)

    def _call_with_mask(self, inputs: Any, leaves: list[Any], mask: Any, args: Any, kwargs: Any) -> Any:
        """A call on inputs that have a mask: `call` gets it if it takes one, and the outputs get what becomes of it."""
        if not args and kwargs.get("mask") is None and takes(self.call, "mask"):
            kwargs = {**kwargs, "mask": mask}
        outputs = self._call_in_scope(inputs, leaves, args, kwargs)
        pass_on(outputs, self.compute_mask(inputs, mask))
        return outputs

    def _call_in_scope(self, inputs: Any, leaves: list[Any], args: Any, kwargs: Any) -> Any:
        """The first call, and all calls of layers that have layers or losses inside."""
        path_token = scope.set(self._full_path() + "/")
        call_token = current_call.set(current_call.get() or object())
        vars(self)["_latest_call"] = current_call.get()
        try:
            with _building:
                self._check_spec(inputs)
                if not self.built:
                    self._build_for(inputs, leaves)
                    self._check_spec(inputs)
            run = self.call if self._policy is None else self._call_in_precision
            outputs = run(inputs, *args, **kwargs)
            if self._called_shape is None:
                vars(self)["_called_shape"] = nest.map_structure(lambda leaf: getattr(leaf, "shape", None), outputs)
                notify(self)  # the layers inside have been built by now
            if self.activity_regularizer is not None:
                for output in nest.flatten(outputs):
                    self.add_loss(self.activity_regularizer(output))
            if not self.names_inside and any(True for _ in self._modules()):
                self._count_calls()
            return outputs
        finally:
            current_call.reset(call_token)
            scope.reset(path_token)

    def _count_calls(self) -> None:
        vars(self)["names_inside"] = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; subclasses say how, and here the inputs are returned.

        Args:
            inputs: a tensor, or a structure of tensors.
            *args: further arguments of the layer's call.
            **kwargs: the same by name, such as ``training`` and ``mask``.

        Returns:
            A tensor, or a structure of tensors.
        """
        return inputs

    def build(self, input_shape: Any) -> None:
        """Make the variables for the input's `TensorShape`, or a structure of them; subclasses say which."""
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The output's mask for an input's mask.

        Args:
            inputs: what the layer was called with.
            mask: the mask of the input: bools of shape (batch, time), a list of masks and None, or None.

        Returns:
            The mask of the output; None unless the layer supports masks.
        """
        return all_of(mask) if self.supports_masking else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for a shape of the input.

        Args:
            input_shape: a `TensorShape`, or what its constructor takes, or a list of those.

        Returns:
            The output's `TensorShape`, or a structure of them; sizes that depend on unknown sizes of the input are
            unknown.
        """
        return output_shape(self, input_shape)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, read from the attributes of the same names.

        Returns:
            Names to numbers, strings, lists and dicts, which JSON can hold; the input's shape as ``batch_input_shape``,
            if it was given.

        Raises:
            NotImplementedError: an argument is in no attribute, or is of a kind that is no data.

        >>> from agog_layers import Flatten
        >>> Flatten(name="flat", dtype="float32").get_config()
        {'data_format': 'channels_last', 'name': 'flat', 'trainable': True, 'dtype': 'float32'}
        """
        known = {**vars(self), **self._constructed_with()}
        names = [name for name in self._argument_names() if name not in _SHAPES or name in known]
        config = {name: self._described(name) for name in names}
        return {name: value for name, value in config.items() if value is not None or name not in _OPTIONAL}

    def _build_for(self, inputs: Any, leaves: list[Any]) -> None:
        """Make the variables for an input: of its dtype, and on its device unless a scope chooses one."""
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        for tensor in tensors if self.needs_floats else ():
            self._check_floats(tensor)
        dtype, count = self._dtype, len(self._own_weights)
        self._dtype = dtype or next((tensor.dtype for tensor in tensors if tensor.dtype.is_differentiable), None)
        try:
            with device(tensors[0].device) if tensors and scope_device() is None else nullcontext(), initializing():
                self.build(nest.pack(inputs, [getattr(leaf, "shape", None) for leaf in leaves]))
        except BaseException:
            self._dtype = dtype
            del self._own_weights[count:]
            raise
        self.built = True
        if self._first_weights is not None:
            self.set_weights(self._first_weights)
            vars(self)["_first_weights"] = None
        notify(self)

    def _full_path(self) -> str:
        """The prefix of the layer's variables' names, fixed at the first use."""
        self._check_initialized()
        if self._scope_path is None:
            self._scope_path = self._make_path()
        return self._scope_path

    def _make_path(self) -> str:
        if self._first_network is None:
            return scope.get() + self.name
        network = self._first_network()
        if network is None:
            raise ValueError(
                f"The Network that first tracked layer {self.name!r} was garbage collected before the layer was "
                "built, so the names of its variables cannot be told. Keep that Network, or make a new layer."
            )
        return f"{network._full_path()}/{self.name}"

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = (),
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> Variable:
        """Make a variable that belongs to the layer.

        Args:
            name: the variable's name, to which the layer's is prefixed; None for ``"variable"``.
            shape: the shape, fully known.
            dtype: the dtype; by default the layer's, which is float32 while no input has set it.
            initializer: an initializer or its name; by default ``"glorot_uniform"`` for floats and ``"zeros"`` for
                others.
            regularizer: a function of the variable, or its name, whose results `losses` lists.
            trainable: whether the variable is trained.
            constraint: a function that optimizers apply to the value after each update, or its name.

        Returns:
            The variable.

        Raises:
            ValueError: a size of the shape is unknown, or a name.
            TypeError: the regularizer or the constraint is not a function, or the name is no string.
        """
        path, name = self._full_path(), weight_name(self._title, name)
        sizes = TensorShape(shape)
        regularizer = regularizers.get(regularizer) if isinstance(regularizer, (str, dict)) else regularizer
        constraint = constraints.get(constraint) if isinstance(constraint, (str, dict)) else constraint
        if not sizes.is_fully_defined():
            raise ValueError(f"{self._title}: the shape of weight {name!r} must be fully known; got {sizes}.")
        for what, function in (("regularizer", regularizer), ("constraint", constraint)):
            if function is not None and not callable(function):
                raise TypeError(f"{self._title}: the {what} of weight {name!r} must be a function; got {function!r}.")
        if dtype is None and self._dtype is None:
            self._dtype = as_dtype("float32")
        kind = as_dtype(dtype or self._dtype)
        make = initializers.get(initializer or ("glorot_uniform" if kind.is_floating else "zeros"))
        allowance.get().take(full_name := f"{path}/{name}", sizes)
        if (getter := weight_getter.get()) is not None:
            made: Variable = getter(
                current_name_scope() + full_name,
                shape=sizes,
                dtype=kind,
                initializer=make,
                regularizer=regularizer,
                trainable=trainable and self._trainable,
                constraint=constraint,
            )
            if isinstance(made, Variable):
                self._own(Weight(made, trainable, regularizer))
            return made

        def make_variable() -> Variable:
            value = make(sizes, dtype=kind)
            cls = self._variable_class(kind)
            return cls(value, trainable and self._trainable, name=full_name, dtype=kind, constraint=constraint)

        variable = kept(current_name_scope() + full_name, make_variable)
        self._own(Weight(variable, trainable, regularizer))
        return variable

    def _add_configured(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None) -> Variable:
        """Make a variable as the arguments for its kind say: ``bias_initializer`` and so on for a bias."""
        kind = name.rpartition("/")[2].removesuffix("_kernel")
        return self.add_weight(
            name,
            shape,
            dtype,
            initializer=initializer or getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )
