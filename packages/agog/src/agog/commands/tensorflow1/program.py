"""Program: a script or a module, run as Python itself would."""

from __future__ import annotations

import atexit
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType, TracebackType
from typing import Any
from zipfile import is_zipfile

from agog.commands.tensorflow1.advice import explain


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a file, or a folder or zip file that holds a ``__main__.py``, as ``python PATH ARGUMENTS`` does.

    Returns:
        The exit status; a program that ends with `SystemExit` ends this function with it.
    """
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or is_zipfile(path):
        _put_first(os.path.abspath(path))
        spec = PathFinder.find_spec("__main__", [path])
        return _fails(f"can't find '__main__' module in {path!r}", 1) if spec is None else _run_spec(spec)
    _put_first(os.path.dirname(os.path.realpath(path)))
    file = os.path.abspath(path)
    try:
        with io.open_code(file) as stream:
            source = stream.read()
    except OSError as error:
        return _fails(f"can't open file {file!r}: [Errno {error.errno}] {error.strerror}", 2)
    return _run({"__file__": file, "__cached__": None}, lambda: compile(source, file, "exec", dont_inherit=True))


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module, or the ``__main__`` of a package, as ``python -m NAME ARGUMENTS`` does.

    Returns:
        The exit status; a program that ends with `SystemExit` ends this function with it.
    """
    sys.argv = ["-m", *arguments]
    _put_first(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except ImportError as error:
        return _fails(f"Error while finding module specification for {name!r} ({type(error).__name__}: {error})", 1)
    if spec is None:
        return _fails(f"No module named {name}", 1)
    sys.argv[0] = spec.origin or sys.argv[0]
    return _run_spec(spec)


def _run_spec(spec: ModuleSpec) -> int:
    loader: Any = spec.loader
    attributes = {"__file__": spec.origin, "__cached__": spec.cached, "__spec__": spec, "__package__": spec.parent}
    return _run({**attributes, "__loader__": loader}, lambda: loader.get_code(spec.name))


def _run(attributes: dict[str, Any], make_code: Callable[[], CodeType]) -> int:
    main = ModuleType("__main__")
    main.__dict__.update(attributes, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    interrupts: list[KeyboardInterrupt] = []
    atexit.register(_end_by, interrupts)  # now, so that it is called after what the program registers
    try:
        exec(make_code(), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = _own_frames(error.__traceback__, main)
        explain(error)
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            interrupts.append(error)
        return 1
    return 0


def _own_frames(trace: TracebackType | None, main: ModuleType) -> TracebackType | None:
    """The part of a traceback that begins with the program's first frame: what Python would show."""
    while trace is not None and trace.tb_frame.f_globals is not main.__dict__:
        trace = trace.tb_next
    return trace


def _end_by(interrupts: list[KeyboardInterrupt]) -> None:
    """End an interrupted program, now that it has cleaned up, by the signal of Ctrl-C, which shells look for."""
    if interrupts:
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def _put_first(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _fails(text: str, status: int) -> int:
    print(f"agog run: {text}", file=sys.stderr)
    return status
