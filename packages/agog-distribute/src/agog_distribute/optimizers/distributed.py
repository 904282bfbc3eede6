"""DistributedOptimizer: an optimizer whose gradients are those of all processes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from agog_core import GradientTape, IndexedSlices, TensorLike, Variable
from agog_core.errors import AbortedError
from agog_core.replicas import among
from agog_core.tracers import present_recorder
from agog_distribute.faults.agreement import texts_of
from agog_distribute.faults.place import Place, line_of_program
from agog_distribute.gradients.residuals import Residuals
from agog_distribute.gradients.settings import check_settings
from agog_distribute.gradients.tape import DistributedGradientTape
from agog_distribute.gradients.transfers import averager_of
from agog_distribute.optimizers.sharding import Sharding
from agog_distribute.processes.groups import Group, everybody
from agog_optimizers import Optimizer
from agog_optimizers.wrapper import OptimizerWrapper

__all__ = ["DistributedOptimizer"]


class DistributedOptimizer(OptimizerWrapper):
    """Lets another optimizer take steps with the means of all processes' gradients.

    `compute_gradients` and `minimize` average. `apply_gradients` does not: it takes what they, or a
    `DistributedGradientTape`, have averaged, and refuses gradients that differ between processes.

    Args:
        optimizer: the optimizer that takes the steps.
        group: the processes; all, by default.
        reduction: ``"mean"`` or ``"sum"``.
        name: the optimizer's name.
        compression: ``"bfloat16"`` to send gradients in half the bytes; see `average_gradients`.
        shard_state: whether each process keeps its share of the slots only, updates its share of the variables, and
            gets the others' (S. Rajbhandari et al., "ZeRO", SC 2020, stage 1). `get_slot` then gives a flat share.
        bucket_bytes: how many bytes are sent at once, at most; see `average_gradients`.

    Raises:
        ValueError: ``optimizer`` is no optimizer.
        InvalidArgumentError: there is no such reduction, compression or size, or a step of the optimizer needs all
            variables at once.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> v = Variable(1.0)
    >>> DistributedOptimizer(GradientDescentOptimizer(0.5)).minimize(lambda: v * v)  # in one process
    >>> v.numpy()
    np.float32(0.0)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        group: Group | None = None,
        reduction: str = "mean",
        name: str = "DistributedOptimizer",
        compression: str | None = None,
        shard_state: bool = False,
        bucket_bytes: int | None = None,
    ) -> None:
        super().__init__(optimizer, name)
        check_settings(name, reduction, compression, bucket_bytes)
        self.group, self.reduction, self.compression, self.shard_state = group, reduction, compression, shard_state
        self.bucket_bytes = bucket_bytes
        members = group or everybody()
        self._sharding = Sharding(name, optimizer, members) if shard_state and members.size > 1 else None

    def compute_gradients(
        self,
        loss: Callable[[], Any],
        var_list: Iterable[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike = None,
        tape: GradientTape | None = None,
    ) -> list[tuple[Any, Variable]]:
        """See `Optimizer.compute_gradients`; the gradients are the means over all processes."""
        variables = None if var_list is None else list(var_list)
        if tape is None:
            tape = self.gradient_tape(watch_accessed_variables=variables is None)
        return self.optimizer.compute_gradients(loss, variables, gate_gradients, grad_loss=grad_loss, tape=tape)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Take one step with gradients that are averaged already. See `Optimizer.apply_gradients`.

        Args:
            **kwargs: further arguments of the other optimizer.

        Raises:
            AbortedError: the gradients differ between processes, so nobody has averaged them.
        """
        pairs = list(grads_and_vars)
        group = self.group or everybody()
        if group.size > 1:
            self._check_equal(group, [gradient for gradient, _ in pairs])
        with among(None):  # a strategy has nothing to sum, and each process makes its own share of slots
            if self._sharding is None:
                self.optimizer.apply_gradients(pairs, global_step, name, **kwargs)
            else:
                self._check_step("apply_gradients", global_step, "The variables to change are in the pairs.")
                self._sharding.apply(self._steps(pairs), global_step, name, **kwargs)

    def gradient_tape(self, watch_accessed_variables: bool = True) -> GradientTape:
        return DistributedGradientTape(
            watch_accessed_variables=watch_accessed_variables,
            group=self.group,
            reduction=self.reduction,
            compression=self.compression,
            bucket_bytes=self.bucket_bytes,
        )

    def prepare(self, variables: Iterable[Variable]) -> None:
        with among(None):
            self.optimizer.prepare(variables if self._sharding is None else map(self._sharding.part, variables))

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """See `Optimizer.get_slot`; with ``shard_state`` this process's elements of it, flat."""
        return super().get_slot(var, name) if self._sharding is None else self._sharding.slot(var, name)

    # A checkpoint has the state of the other optimizer as if there were no wrapper: any number of processes finds it,
    # and a program without the wrapper.

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return self.optimizer.checkpoint_dependencies()

    def checkpoint_dependency(self, name: str) -> Any:
        return self.optimizer.checkpoint_dependency(name)

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """See `Checkpointable.checkpoint_slots`; shares of slots are those of the variables that they belong to.

        What compression has left of the last gradients is there too, for as many processes.
        """
        yield from self.optimizer.checkpoint_slots() if self._sharding is None else self._sharding.slots()
        if (residuals := self._residuals()) is not None:
            yield from residuals.slots()

    def make_checkpoint_slots(self, variable: Variable, names: Container[str]) -> Mapping[str, Variable]:
        if self._sharding is None:
            made = self.optimizer.make_checkpoint_slots(variable, names)
        else:
            with among(None):
                made = self._sharding.make_slots(variable, names)
        residuals = self._residuals()
        return made if residuals is None else {**made, **residuals.make_slots(variable, names)}

    def _residuals(self) -> Residuals | None:
        """What compression has taken off the gradients of the group's variables."""
        group = self.group or everybody()
        return averager_of(group).residuals if self.compression is not None and group.size > 1 else None

    def _check_equal(self, group: Group, gradients: Sequence[Any]) -> None:
        """Refuse gradients of which the processes have not the same bits, as some elements of each tell."""
        tensors = [x for gradient in gradients if gradient is not None for x in _tensors(gradient)]
        place = line_of_program()

        def check(*arrays: Any) -> list[Any]:
            _compare(group, self._name, arrays, place)
            return []

        recorder = present_recorder()
        if recorder is None:
            check(*(x._host() for x in tensors))
        else:
            recorder.python(check, tensors, [])


def _tensors(gradient: Any) -> list[Any]:
    return [gradient.values, gradient.indices] if type(gradient) is IndexedSlices else [gradient]


# How many elements of each gradient are compared.
_SAMPLE = 16


def _compare(group: Group, name: str, arrays: Sequence[Any], place: Place) -> None:
    bits = blake2b(digest_size=8)
    for array in arrays:
        bits.update(array.flat[:: max(1, array.size // _SAMPLE)].tobytes())
    if len(set(texts_of(group, f"{name}.apply_gradients", bits.hexdigest(), place))) > 1:
        raise AbortedError(
            f"{name}.apply_gradients: the gradients differ between the processes, so nobody has averaged them; take "
            "them from a DistributedGradientTape or from compute_gradients, or call minimize."
        )
