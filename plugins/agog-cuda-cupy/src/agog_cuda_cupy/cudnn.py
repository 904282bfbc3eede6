"""cuDNN: convolutions by NVIDIA's library, if its frontend is installed; our own kernels are the fallback.

A convolution is a graph with one node. Its plan is made when a call of its form comes for the first time, among those
that give equal bits in each run, and that round float32 to TF32 only where the program allows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from agog_core.plugin import Kernel, matmul_precision
from agog_cuda_cupy import presence
from agog_cuda_cupy.cuda.modules import Modules
from agog_cuda_cupy.cuda.sliding import Pairs, Sizes, windows
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_MOST_BYTES = 1 << 30  # of a plan's workspace
_MOST_PLANS = 256  # of an op; each has some memory of the GPU
_MOST_TERMS = 1 << 16  # of each sum of a filter's gradient
_SMALL_WINDOW = 16  # numbers
_ALIGNMENT = 16  # of what plans are made for, in bytes
_TYPES = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE"}


def kernels() -> Iterator[Kernel]:
    """A kernel for a convolution and for each of its gradients, ahead of our own."""
    for op in OPS:
        yield Kernel(
            op=op,
            device="gpu",
            make="agog_cuda_cupy.cudnn:make",
            dtypes=tuple(_TYPES),
            priority=300,
            when="windows slide over at most three axes, no array is empty, and cuDNN has a plan",
            per_thread=True,  # a handle is for one thread at a time
            unavailable=unavailable,
        )


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op, with plans of its own; see `agog_core.plugin.Kernel`."""
    import cudnn

    from agog_cuda_cupy.launchers import modules

    return partial(OPS[op], Plans(modules(device), cudnn, {}))


@cache
def unavailable() -> str | None:
    """Why cuDNN computes nothing here, in one sentence; it stays so in a process."""
    if (missing := presence.unavailable()) is not None:
        return missing
    if find_spec("cudnn") is None:
        return "cuDNN's frontend is not installed: pip install agog-cuda-cupy[cudnn12], or [cudnn13] for CUDA 13"
    try:
        import cudnn

        cudnn.destroy_handle(cudnn.create_handle())  # which it refuses where the driver is too old for it
    except (ImportError, OSError, RuntimeError) as error:
        return f"cuDNN cannot be used: {str(error).strip().splitlines()[0]}"
    return None


class Form(NamedTuple):
    """What a plan is made for: the node, the arrays' shapes with channels last, and how the windows slide."""

    node: str
    dtype: str
    is_strict: bool
    operands: tuple[tuple[str, Sizes], ...]
    result: Sizes
    strides: Sizes
    paddings: Pairs
    dilations: Sizes


class Plan(NamedTuple):
    """A graph that is ready to run, its tensors with the result last, and how many bytes it needs for itself."""

    graph: Any
    tensors: tuple[Any, ...]
    workspace: int


class Plans:
    """Plans for the calls of one op on one GPU in one thread, by their forms.

    Args:
        modules: the GPU's modules, for memory and for arrays in one piece.
        frontend: the module ``cudnn``.
        target: what graphs are made for, as ``pygraph`` takes it; empty for the GPU that is set at the first call.
    """

    def __init__(self, modules: Modules, frontend: Any, target: dict[str, Any]) -> None:
        self.modules, self._frontend, self._target = modules, frontend, target
        self.plans: dict[Form, Plan | None] = {}

    def run(self, node: str, operands: dict[str, Array], result: Sizes, *windows: Any) -> Any:
        """A node's result of some shape, where windows slide as told; NotImplemented where cuDNN has no plan."""
        if not self._target:
            self._target = {"handle": self._frontend.create_handle()}  # its stream is CUDA's default one
        (dtype, *_) = [operand.dtype for operand in operands.values()]
        shapes = tuple([(name, operand.shape) for name, operand in operands.items()])
        form = Form(node, dtype.name, matmul_precision() == "float32", shapes, result, *windows)
        try:
            plan = self.plans.pop(form)
        except KeyError:
            plan = self.plan(form)
            if len(self.plans) == _MOST_PLANS:
                del self.plans[next(iter(self.plans))]  # which was used the longest ago
        self.plans[form] = plan
        if plan is None:
            return NotImplemented
        xp, address = self.modules.xp, self.modules.address
        arrays = [_aligned(contiguous(self.modules, operand), address) for operand in operands.values()]
        arrays.append(xp.empty(result, dtype))
        workspace = xp.empty(plan.workspace, "uint8")
        pointers = dict(zip(plan.tensors, map(address, arrays), strict=True))
        plan.graph.execute(pointers, address(workspace), **self._target)
        return arrays[-1]

    def plan(self, form: Form) -> Plan | None:
        """The best plan by cuDNN's heuristics; None where there is none."""
        cudnn = self._frontend
        dtype = getattr(cudnn.data_type, _TYPES[form.dtype])
        compute = cudnn.data_type.DOUBLE if form.dtype == "float64" else cudnn.data_type.FLOAT
        types = {"io_data_type": dtype, "intermediate_data_type": compute, "compute_data_type": compute}
        graph = cudnn.pygraph(**types, **self._target)
        operands = {name: graph.tensor(name=name, data_type=dtype, **_layout(shape)) for name, shape in form.operands}
        result = getattr(graph, form.node)(
            **operands,
            pre_padding=[low for low, _ in form.paddings],
            post_padding=[high for _, high in form.paddings],
            stride=list(form.strides),
            dilation=list(form.dilations),
        )
        layout = _layout(form.result)
        result.set_output(True).set_data_type(dtype).set_dim(layout["dim"]).set_stride(layout["stride"])
        try:
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
            graph.deselect_numeric_notes(self._barred(form))
            graph.deselect_workspace_greater_than(_MOST_BYTES)
            graph.build_plans()
        except (cudnn.cudnnGraphNotSupportedError, NotImplementedError):
            return None
        return Plan(graph, (*operands.values(), result), graph.get_workspace_size())

    def _barred(self, form: Form) -> list[Any]:
        """What a plan must not do; tensor cores round float32 to TF32."""
        note = self._frontend.numerical_note
        barred = [note.NONDETERMINISTIC, note.REDUCED_PRECISION_REDUCTION, note.DOWN_CONVERT_INPUTS]
        return [*barred, note.TENSOR_CORE] if form.is_strict and form.dtype == "float32" else barred


def _layout(shape: Sizes) -> dict[str, list[int]]:
    """Sizes and steps as cuDNN orders them, with channels second, of an array whose channels are last."""
    steps = [1]
    for size in shape[:0:-1]:
        steps.insert(0, steps[0] * size)
    return {"dim": _second(shape), "stride": _second(tuple(steps))}


def _aligned(array: Array, address: Callable[[Array], int]) -> Array:
    """The array where plans may read it: a view may begin anywhere."""
    return array.copy() if address(array) % _ALIGNMENT else array


def _second(numbers: Sizes) -> list[int]:
    return [numbers[0], numbers[-1], *numbers[1:-1]]


def convolution(
    plans: Plans, input: Array, filter: Array, *, strides: Sizes, paddings: Pairs, dilations: Sizes, groups: int
) -> Any:
    """See `agog_kernels_xp.conv.convolution_ops`; cuDNN counts the groups by the shapes."""
    given = windows(input.shape, filter.shape[:-2], strides, paddings, dilations)
    if given is None or filter.size == 0:
        return NotImplemented
    operands = {"image": input, "weight": _outputs_first(filter)}
    shape = len(input), *given.places, filter.shape[-1]
    return plans.run("conv_fprop", operands, shape, strides, paddings, dilations)


def convolution_input_grad(
    plans: Plans,
    gradient: Array,
    filter: Array,
    *,
    input_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    if windows(input_shape, filter.shape[:-2], strides, paddings, dilations) is None or filter.size == 0:
        return NotImplemented
    operands = {"loss": gradient, "filter": _outputs_first(filter)}
    return plans.run("conv_dgrad", operands, input_shape, strides, paddings, dilations)


def convolution_filter_grad(
    plans: Plans,
    input: Array,
    gradient: Array,
    *,
    filter_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    given = windows(input.shape, filter_shape[:-2], strides, paddings, dilations)
    if given is None or 0 in filter_shape or _is_long(len(input) * math.prod(given.places), filter_shape):
        return NotImplemented
    operands = {"image": input, "loss": gradient}
    shape = filter_shape[-1], *filter_shape[:-1]
    turned = plans.run("conv_wgrad", operands, shape, strides, paddings, dilations)
    if turned is NotImplemented:
        return NotImplemented
    return contiguous(plans.modules, turned.transpose(*range(1, turned.ndim), 0))


def _is_long(terms: int, filter_shape: Sizes) -> bool:
    """Whether sums are long and windows small: there cuDNN is slower than a product of matrices, and loses digits."""
    return terms > _MOST_TERMS and math.prod(filter_shape[:-1]) <= _SMALL_WINDOW


def _outputs_first(filter: Array) -> Array:
    """A view of a filter as cuDNN takes it, with its outputs as images and its inputs as channels."""
    return filter.transpose(filter.ndim - 1, *range(filter.ndim - 1))


OPS: dict[str, Callable[..., Any]] = {
    "convolution": convolution,
    "convolution_input_grad": convolution_input_grad,
    "convolution_filter_grad": convolution_filter_grad,
}
"""The ops that cuDNN computes."""
