"""Assembling: the modules `cupy` and `cupyx`, each with the names of the real one, so that what is not there raises."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from cupy_on_numpy import cublas, cuda_devices, cuda_modules, cusolver, nccl, pools, subscripts, ufuncs
from cupy_on_numpy.arrays import functions, memory_of, ndarray, owner, wrapped
from cupy_on_numpy.counting import DeviceSynchronized, allow_synchronize, launch, wait
from cupy_on_numpy.flushing import MOVING, flushed
from cupy_on_numpy.own_functions import OWN
from cupy_on_numpy.solvers import errstate, solver
from cupy_on_numpy.surface import MODULES, SURFACE

assert subscripts  # which gives arrays their subscripts

# NumPy's and SciPy's modules that do the work.
_SOURCES = {
    "cupy": np,
    "cupy.fft": np.fft,
    "cupy.lib.stride_tricks": np.lib.stride_tricks,
    "cupy.linalg": np.linalg,
    "cupyx.scipy.linalg": scipy.linalg,
    "cupyx.scipy.special": scipy.special,
}
_EMPTY = (
    *("cupy.cuda", "cupy.cuda.compiler", "cupy.cuda.device", "cupy.cuda.function", "cupy.cuda.memory"),
    *("cupy.cuda.nvrtc", "cupy.cuda.pinned_memory", "cupy.cuda.runtime", "cupy.lib", "cupyx", "cupyx.scipy"),
    *("cupy_backends", "cupy_backends.cuda", "cupy_backends.cuda.libs", "cupy_backends.cuda.libs.cublas"),
    *("cupy_backends.cuda.libs.cusolver", "cupy.cuda.nccl"),
)
_VIEWS = {
    *("reshape", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "flip", "diagonal"),
    *("split", "ravel", "rollaxis", "rot90", "array_split", "as_strided", "atleast_1d", "real", "imag"),
}
_MEMORY_ALONE = {"broadcast_arrays", "empty_like", "finfo", "iinfo", "result_type"}  # nothing runs
_WAITING = {"nonzero", "argwhere", "flatnonzero", "unique", "bincount", "array_equal", "allclose", "extract"}
_PRODUCTS = {"einsum", "inner", "tensordot"}  # and those of `own_functions`
# They would go over an array's elements on the host.
_ABSENT = {"frompyfunc", "nditer", "vectorize", "apply_along_axis"}


@cache
def assembled() -> dict[str, ModuleType]:
    """All modules by their names."""
    made = {name: ModuleType(name) for name in sorted([*_SOURCES, *_EMPTY])}
    for name, module in made.items():
        module.__path__ = []
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, module)
    for name, source in _SOURCES.items():
        for attribute, facts in MODULES[name].items():
            value = _value(name, attribute, facts, source)
            if value is not None:
                setattr(made[name], attribute, value)
    functions.update({name: value for name, value in vars(made["cupy"]).items() if callable(value)})
    _complete(made)
    return made


def _value(module: str, name: str, facts: dict[str, Any], source: Any) -> Any:
    """What a name of CuPy's stands for here; None where the stand-in has nothing for it."""
    if module == "cupy" and name in OWN:
        return OWN[name]
    found = getattr(source, name, None)
    if found is None or name in _ABSENT or facts["kind"] in ("module", "broken"):
        return None
    if facts["kind"] == "ufunc":
        return ufuncs.ufunc(name, facts, found)
    if facts["kind"] == "function":
        if module in ("cupy.linalg", "cupyx.scipy.linalg"):
            return solver(name, found, facts["signature"])
        return _function(name, facts["signature"], found)
    if name == "ndarray":
        return ndarray
    return ufuncs.ufunc if name == "ufunc" else found


def _function(name: str, signature: list[list[Any]] | None, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy under CuPy's signature."""
    parameters = signature or []
    most = sum(kind in (0, 1) for _, kind, _ in parameters)
    names = {parameter for parameter, kind, _ in parameters if kind in (1, 3)}
    kinds = {kind for _, kind, _ in parameters}

    def run(*args: Any, **kwargs: Any) -> Any:
        if signature is not None and len(args) > most and 2 not in kinds:
            raise TypeError(f"{name}() takes {most} positional arguments but {len(args)} were given")
        if signature is not None and 4 not in kinds and (unknown := set(kwargs) - names):
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown.pop()!r}")
        if name in _WAITING:
            wait(f"cupy.{name}")
        is_view = name in _VIEWS
        if not is_view and name not in _MEMORY_ALONE:
            launch(name)
        out = kwargs.get("out")
        with np.errstate(all="ignore"):
            inputs = map(cublas.factor, map(memory_of, args)) if name in _PRODUCTS else map(memory_of, args)
            is_moving = is_view or name in _MEMORY_ALONE or name in MOVING
            given = inputs if is_moving else map(flushed, inputs)
            result = function(*given, **{key: memory_of(value) for key, value in kwargs.items()})
            if not is_moving:
                result = flushed(result)
        return out if isinstance(out, ndarray) else wrapped(result, owner(*args) if is_view else None)

    run.__name__ = run.__qualname__ = name
    return run


def _complete(made: dict[str, ModuleType]) -> None:
    """What is no function of arrays."""
    cupy, cuda, cupyx = made["cupy"], made["cupy.cuda"], made["cupyx"]
    cupy.__version__ = f"{SURFACE['version']}+numpy"  # type: ignore[attr-defined]
    made["cupy.linalg"].LinAlgError = np.linalg.LinAlgError  # type: ignore[attr-defined]
    pinned = pools.PinnedMemoryPool()
    vars(cupy).update(get_default_memory_pool=lambda: pools.pool, get_default_pinned_memory_pool=lambda: pinned)
    vars(cuda).update(
        Device=cuda_devices.Device,
        Event=cuda_devices.Event,
        Stream=cuda_devices.Stream,
        get_current_stream=cuda_devices.get_current_stream,
        get_elapsed_time=cuda_devices.get_elapsed_time,
        get_allocator=pools.get_allocator,
        get_cublas_handle=cublas.get_handle,
        is_available=lambda: True,
        set_allocator=pools.set_allocator,
    )
    vars(made["cupy_backends.cuda.libs.cublas"]).update(
        getMathMode=cublas.get_math_mode, setMathMode=cublas.set_math_mode
    )
    vars(made["cupy_backends.cuda.libs.cusolver"]).update(cusolver.FUNCTIONS)
    vars(made["cupy.cuda.nccl"]).update(nccl.FUNCTIONS)
    vars(made["cupy.cuda.device"]).update(get_cusolver_handle=cusolver.get_handle)
    vars(made["cupy.cuda.compiler"]).update(compile_using_nvrtc=cuda_modules.compile_using_nvrtc)
    vars(made["cupy.cuda.function"]).update(Module=cuda_modules.Module, Function=cuda_modules.Function)
    vars(made["cupy.cuda.nvrtc"]).update(getVersion=lambda: (0, 0))
    vars(made["cupy.cuda.pinned_memory"]).update(is_memory_pinned=pools.is_memory_pinned)
    vars(made["cupy.cuda.memory"]).update(OutOfMemoryError=pools.OutOfMemoryError)
    vars(made["cupy.cuda.runtime"]).update(
        CUDARuntimeError=cuda_devices.CUDARuntimeError,
        deviceGetPCIBusId=lambda device: f"0000:{device:02x}:00.0",
        driverGetVersion=lambda: 0,
        getDevice=cuda_devices.current,
        getDeviceCount=lambda: cuda_devices.DEVICE_COUNT,
        getDeviceProperties=lambda device: {"name": b"cupy-on-numpy, no card"},
        runtimeGetVersion=lambda: 0,
    )
    vars(cupyx).update(
        DeviceSynchronized=DeviceSynchronized,
        allow_synchronize=allow_synchronize,
        empty_pinned=pools.empty_pinned,
        errstate=errstate,
    )


def install() -> None:
    """Put the stand-in where ``import cupy`` and ``import cupyx`` find it."""
    sys.modules.update(assembled())
