"""Machine: LLVM's text to machine code for this processor, and machine code to functions of Python."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from threading import RLock
from typing import Any
from weakref import finalize

from llvmlite import binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from agog_cpu_llvm import numpy_loops

_METH_FASTCALL = 0x80
# The functions of CPython that machine code calls.
_OF_PYTHON = ("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef")
_NO_TRIPLE, _NO_LAYOUT = 'target triple = "unknown-unknown-unknown"', 'target datalayout = ""'


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_NAME = b"fused"
_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
_address_of_bytes = ctypes.pythonapi.PyBytes_AsString
_address_of_bytes.restype = ctypes.c_void_p
_address_of_bytes.argtypes = [ctypes.py_object]


# Engines whose code nothing calls any more. They are freed when the next code is loaded, since what is deleted together
# with a function may still call it.
_left: list[Any] = []
# Held while LLVM is at work, which is for one thread at a time, and while a process forks.
lock = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


class Code:
    """Machine code that is loaded: functions of Python are made of it, each with its own arrays.

    Args:
        engine: holds the machine code, until the last of the functions is deleted.
        address: of the machine code.
        turns, grain: as `module.Module` has them.
        shared: the address of what threads take shares by; 0 where there are none.
    """

    def __init__(self, engine: Any, address: int, turns: int, grain: int, shared: int) -> None:
        # Python reads the definition of a function while it deletes the function. In a garbage cycle, the collector may
        # clear a structure of ctypes before that; it cannot clear bytes.
        self.definition = bytes(_MethodDef(_NAME, address, _METH_FASTCALL, None))
        self.turns, self.grain, self.shared = turns, grain, shared
        finalize(self, _left.append, engine).atexit = False

    def function(self, addresses: Any, kept: Any) -> Any:
        """A function of Python; ``addresses`` is the array that it finds constants by, ``kept`` what has to live on."""
        return _new_function(_address_of_bytes(self.definition), addresses, (self, self.definition, kept))


@cache
def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _target() -> Any:
    """LLVM's target, which knows the functions that machine code calls."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in _OF_PYTHON:
        # By its own address, since what `ctypes.cast` takes refers to itself from then on.
        address = ctypes.addressof(getattr(ctypes.pythonapi, name))
        llvm.add_symbol(name, ctypes.c_void_p.from_address(address).value)
    for dtype in ("float16", "float32", "float64", "int32", "int64"):
        for name in (*numpy_loops.UNARY, *numpy_loops.BINARY, *numpy_loops.REDUCTIONS):
            if (loop := numpy_loops.find(name, dtype)) is not None:
                llvm.add_symbol(loop.symbol, loop.address)
    return llvm.Target.from_triple(llvm.get_process_triple())


def _machine(is_movable: bool = False) -> Any:
    """A target machine, which the engine that gets it owns."""
    name, features = _processor()
    model = {"reloc": "pic", "codemodel": "small"} if is_movable else {}
    return _target().create_target_machine(cpu=name, features=features, opt=3, jit=True, **model)


def assemble(text: str, optimize: bool = True, is_movable: bool = False) -> bytes:
    """Machine code, as an object file.

    Args:
        text: LLVM's assembly.
        optimize: code that is written as the processor is to run it needs no optimization.
        is_movable: whether parts of it refer to each other by distances, not by addresses.
    """
    machine = _machine(is_movable)
    # In the text, because setting them makes types of ctypes, which refer to themselves.
    text = text.replace(_NO_TRIPLE, f'target triple = "{machine.triple}"', 1)
    module = llvm.parse_assembly(text.replace(_NO_LAYOUT, f'target datalayout = "{machine.target_data}"', 1))
    if optimize:
        _optimize(module, machine)
    code: bytes = machine.emit_object(module)
    return code


def _optimize(module: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=2)  # more takes a third longer, and gains nothing here
    options.loop_vectorization = options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    NewPassManager._dispose(passes)  # which llvmlite's `close` does not reach: a hundred kilobytes would stay
    passes.detach()


def dissolve(module: Any) -> None:
    """Let go of what a module is made of, whose parts refer to each other."""
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                instruction.__dict__.clear()
            block.__dict__.clear()
        for part in (*function.args, function.return_value, function):
            part.__dict__.clear()
    for part in module.metadata:
        part.__dict__.clear()
    module.__dict__.clear()


def load(code: bytes, name: str, turns: int, grain: int) -> Code:
    """The function of a name in an object file."""
    while _left:
        _left.pop().close()
    held = engine(code)
    shared = held.get_function_address(f"{name}_shared") if grain else 0
    return Code(held, held.get_function_address(name), turns, grain, shared)


def engine(code: bytes) -> Any:
    """What holds the machine code of an object file: its ``get_function_address`` finds functions by their names."""
    module = llvm.parse_assembly("")
    made = llvm.create_mcjit_compiler(module, _machine())
    (module._ptr._objects or {}).clear()  # llvmlite has asked for its hash by `ctypes.cast`: it refers to itself
    made.add_object_file(llvm.ObjectFileRef.from_data(code))
    made.finalize_object()
    return made
