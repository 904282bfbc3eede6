"""Module: an object that tracks the variables and modules in its attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from agog_core import Checkpointable, Tensor, Variable, convert_to_tensor, nest
from agog_core.checkpointable import NoDependency, is_checkpointable, unsaved, unwrapped
from agog_core.settable import has_changed
from agog_layers.serialization.description import Configured

__all__ = ["Module", "Regularizer", "Weight", "current_call"]

Regularizer = Callable[[Any], Any]

_MAY_HOLD_STATE = (Variable, Checkpointable, list, tuple, dict)
_CONTAINERS = (list, tuple, dict)


class Weight(NamedTuple):
    """A variable of a layer, with its arguments."""

    variable: Variable
    trainable: bool
    regularizer: Regularizer | None


# The current call of the outermost layer.
current_call: ContextVar[object | None] = ContextVar("agog_layer_call", default=None)


class Module(Configured, Checkpointable):
    """Base of layers: it tracks what is assigned to attributes, also in lists, tuples and dicts."""

    described_kind: ClassVar[str] = "layer"

    _tracked_parts: dict[str, Any]
    _own_weights: list[Weight]
    # Functions given to `add_loss`; tensors given to it in a call, and that call.
    _loss_functions: list[Callable[[], Any]]
    _call_losses: list[Tensor]
    _losses_call: object | None = None
    # The module's last call, if known.
    _latest_call: object | None = None

    def __init__(self, trainable: bool = True) -> None:
        # Past __setattr__, since these are no parts that a checkpoint saves.
        known = {key: value for key, value in vars(self).items() if isinstance(value, _MAY_HOLD_STATE)}
        vars(self).update(_tracked_parts=known, _own_weights=[], _loss_functions=[], _call_losses=[])
        self._trainable = trainable

    def _own(self, weight: Weight) -> None:
        """Have a weight, and say so to traces that have asked for all."""
        self._own_weights.append(weight)
        has_changed(self, "_own_weights")

    @property
    def trainable(self) -> bool:
        """Whether `trainable_variables` lists the variables; tapes watch the layer's own only then."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for weight in self._own_weights:
            weight.variable.trainable = weight.trainable and value

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables to train: the layer's own, then those of layers in attributes, then variables in attributes."""
        return self._gather()[0]

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables that are not to be trained, in the same order."""
        return self._gather()[1]

    @property
    def weights(self) -> list[Variable]:
        """All variables, layer by layer: of each those that were made to be trained, then the others. Freezing a layer
        changes nothing in that order."""
        self._check_initialized()
        found: dict[int, Variable] = {}
        self._list_into(found, set())
        return list(found.values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The same as `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The same as `non_trainable_weights`."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Variable]:
        """The same as `weights`."""
        return self.weights

    @property
    def losses(self) -> list[Any]:
        """What to add to the loss: what regularizers and the functions given to `add_loss` say now, and the tensors
        given to it in the last call."""
        self._check_initialized()
        return [loss for module in self._walk(set()) for loss in module._own_losses(self._latest_call)]

    @property
    def updates(self) -> list[Any]:
        """No ops: layers change their variables while they are called."""
        return []

    def _own_losses(self, call: object | None) -> list[Any]:
        losses = [w.regularizer(w.variable) for w in self._own_weights if w.regularizer is not None]
        losses += [function() for function in self._loss_functions]
        return losses + self._call_losses if call is None or self._losses_call is call else losses

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a term to `losses`.

        Args:
            losses: a tensor, which a layer computes in `call` and which counts until the next call; or a function
                without arguments, which is asked each time; or a list of these.

        >>> import agog_core as ag
        >>> from agog_layers import Layer
        >>> class Sparse(Layer):
        ...     def call(self, inputs):
        ...         self.add_loss(0.5 * ag.reduce_sum(ag.abs(inputs)))
        ...         return inputs
        >>> layer = Sparse()
        >>> for value in (1.0, 3.0):
        ...     _ = layer(ag.constant([value]))
        ...     print(layer.losses)
        [<tf.Tensor: id=..., shape=(), dtype=float32, numpy=0.5>]
        [<tf.Tensor: id=..., shape=(), dtype=float32, numpy=1.5>]
        """
        self._check_initialized()
        for loss in nest.flatten(losses):
            if callable(loss):
                self._loss_functions.append(loss)
                has_changed(self, "_loss_functions")
                continue
            call = current_call.get()
            if self._losses_call is not call:
                vars(self).update(_call_losses=[], _losses_call=call)
            self._call_losses.append(convert_to_tensor(loss))
            self._count_calls()

    def _count_calls(self) -> None:
        """From now on, tell one call from the next."""

    def get_weights(self) -> list[Any]:
        """Copy the values of all variables.

        Returns:
            Arrays, in the order of `weights`.

        >>> from agog_layers import Dense
        >>> layer = Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> layer.get_weights()
        [array([[1.],
               [1.]], dtype=float32), array([0.], dtype=float32)]
        """
        return [variable.numpy().copy() for variable in self.weights]

    def set_weights(self, weights: Iterable[Any]) -> None:
        """Give all variables new values; when one does not fit, none is changed.

        Args:
            weights: arrays or tensors, in the order of `weights`.

        Raises:
            ValueError: there are more or fewer than variables, or a shape differs.
        """
        variables, values = self.weights, list(weights)
        what = f"{type(self).__name__}.set_weights"
        if len(values) != len(variables):
            raise ValueError(f"{what}: takes {len(variables)} arrays, one for each variable; got {len(values)}.")
        tensors = [convert_to_tensor(v, dtype=x.dtype) for v, x in zip(values, variables, strict=True)]
        for variable, tensor in zip(variables, tensors, strict=True):
            if tensor.shape != variable.shape:
                raise ValueError(
                    f"{what}: variable {variable.name!r} has shape {variable.shape}; got an array of shape "
                    f"{tensor.shape}."
                )
        for variable, tensor in zip(variables, tensors, strict=True):
            variable.assign(tensor)

    def count_params(self) -> int:
        """Count the numbers in all variables; a variable that is in several places counts once.

        Returns:
            The count.

        Raises:
            ValueError: it was not built yet, so that its variables are unknown.
        """
        if not getattr(self, "built", True) and not self.weights:
            name = getattr(self, "name", type(self).__name__)
            raise ValueError(
                f"count_params: layer {name!r} has no variables yet, since it was not built; call it on a batch, or "
                "call its method build(input_shape)."
            )
        return sum(v.shape.num_elements() or 0 for v in {id(v): v for v in self.weights}.values())

    def _modules(self) -> Iterable[Module]:
        """The modules in attributes; one that is in several comes several times."""
        return [part for part in _leaves(self._tracked_parts.values()) if isinstance(part, Module)]

    def _walk(self, seen: set[int]) -> Iterator[Module]:
        """This module and all that it holds, each once."""
        if id(self) not in seen:
            seen.add(id(self))
            yield self
            for module in self._modules():
                yield from module._walk(seen)

    def _list_into(self, found: dict[int, Variable], seen: set[int]) -> None:
        """Add the variables of this module and of all that it holds, in the order of `weights`."""
        if id(self) in seen:
            return
        seen.add(id(self))
        own = sorted(self._own_weights, key=lambda weight: not weight.trainable)
        found |= {id(weight.variable): weight.variable for weight in own}
        for module in self._modules():
            module._list_into(found, seen)
        others = sorted(self._variables_in_attributes(), key=lambda variable: not variable.trainable)
        for variable in others:
            found.setdefault(id(variable), variable)

    def _gather(self) -> tuple[list[Variable], list[Variable]]:
        """The trainable variables and the others, each once."""
        self._check_initialized()
        trainable: list[Variable] = []
        others: list[Variable] = []
        self._gather_into(trainable, others, True, set())
        return trainable, others

    def _gather_into(self, trainable: list[Variable], others: list[Variable], live: bool, seen: set[int]) -> None:
        if id(self) in seen:
            return
        seen.add(id(self))
        live = live and self._trainable
        own = [weight.variable for weight in self._own_weights]
        _add_new(own, trainable if live else others, others, seen)
        for module in self._modules():
            module._gather_into(trainable, others, live, seen)
        _add_new(self._variables_in_attributes(), trainable if live else others, others, seen)

    def _variables_in_attributes(self) -> list[Variable]:
        """The variables in attributes, and those of templates there: of what has weights and is no module."""
        found: list[Variable] = []
        for part in _leaves(self._tracked_parts.values()):
            if isinstance(part, Variable):
                found.append(part)
            elif not isinstance(part, Module) and hasattr(type(part), "trainable_weights"):
                found += part.weights
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is NoDependency or not isinstance(value, _MAY_HOLD_STATE):
            vars(self).get("_tracked_parts", {}).pop(name, None)
        else:
            value = unwrapped(value)
            if "_tracked_parts" not in vars(self):
                if is_checkpointable(value) and (value or not isinstance(value, _CONTAINERS)):
                    self._check_initialized()
            elif not isinstance(getattr(type(self), name, None), property):
                if self._tracked_parts.get(name) is not value:
                    has_changed(self, "_tracked_parts")
                self._tracked_parts[name] = value
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._tracked_parts.pop(name, None)

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """The parts that have state: those in attributes, then weights that no attribute holds."""
        every = self._tracked_parts.copy()  # a restore may ask while another thread makes parts
        parts = {name: part for name, part in every.items() if is_checkpointable(part)}
        held = {id(part) for part in _leaves(parts.values())}
        for weight in self._own_weights:
            if id(weight.variable) not in held:
                name = base = weight.variable.name.rpartition("/")[2].partition(":")[0]
                number = 0
                while name in parts:
                    number += 1
                    name = f"{base}_{number}"
                parts[name] = weight.variable
        return parts

    def checkpoint_dependency(self, name: str) -> Any:
        """The part of a name that is in an attribute."""
        return self._tracked_parts.get(name)

    # By name, because the table of a model stands on models, and is not needed before it is shown.
    def __repr__(self) -> str:
        line: str = import_module("agog_layers.models.display").line(self)
        return line

    def _repr_html_(self) -> str:
        html: str = import_module("agog_layers.models.display").html(self)
        return html

    def _check_initialized(self) -> None:
        if "_tracked_parts" not in vars(self):
            base = next(cls for cls in type(self).__mro__ if cls.__module__.startswith("agog_"))
            raise RuntimeError(
                f"It looks like you are subclassing `{base.__name__}` and you forgot to call `super().__init__()` in "
                f"{type(self).__name__}.__init__. Always start with this line."
            )


def _add_new(variables: Iterable[Variable], trainable: list[Variable], others: list[Variable], seen: set[int]) -> None:
    for variable in variables:
        if id(variable) not in seen:
            seen.add(id(variable))
            (trainable if variable.trainable else others).append(variable)


def _leaves(parts: Iterable[Any]) -> list[Any]:
    """The contents of the parts, and of the lists, tuples and dicts among them."""
    leaves: list[Any] = []
    for part in parts:
        if not isinstance(part, _CONTAINERS):
            leaves.append(part)
        else:
            without = unsaved(part)
            inside = part.values() if isinstance(part, dict) else part
            leaves += _leaves([each for each in inside if id(each) not in without] if without else inside)
    return leaves
