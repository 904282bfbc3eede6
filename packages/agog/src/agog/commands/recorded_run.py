"""Recorded run: a program in its own process on one device, with the inputs and results of each op."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.kernels.observation import KernelCall, observe
from agog_core.recording import source_line


class Record(NamedTuple):
    """One call of a kernel, with its arrays on the host.

    Args:
        op: the op's name.
        line: the line of the program, such as ``"train.py:12"``.
        inputs: the inputs; of an op that updates variables those that it does not update.
        outputs: the results, or the variables that were updated.
        attributes: the op's attributes.
    """

    op: str
    line: str
    inputs: tuple[np.ndarray[Any, Any], ...]
    outputs: tuple[np.ndarray[Any, Any], ...]
    attributes: dict[str, Any]


class ProgramError(Exception):
    """The program has failed; the text is the traceback."""


@contextmanager
def recorded(device: str, script: str, arguments: Sequence[str]) -> Iterator[Iterator[Record]]:
    """Start a program on a device, and give its calls, in their order, while it waits for the reader.

    The calls of its first thread are recorded, which are in the same order each time. What it prints is not shown.

    Args:
        device: the device's name, such as ``"fake:0"``.
        script: the path of the program.
        arguments: the program's arguments.

    Returns:
        A context manager that gives an iterator of `Record`; it raises `ProgramError` where the program fails.
    """
    context = get_context("spawn")  # so that the program starts in a fresh interpreter, as its user starts it
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, device, script, list(arguments)), daemon=True)
    process.start()
    sender.close()
    try:
        yield _received(receiver)
    finally:
        process.terminate()
        process.join()


def _received(receiver: Connection) -> Iterator[Record]:
    while True:
        try:
            message = receiver.recv()
        except EOFError:
            raise ProgramError("its process has ended before the program did.") from None
        if message is None:
            return
        if isinstance(message, str):
            raise ProgramError(message)
        yield message


def _run(sender: Connection, device: str, script: str, arguments: list[str]) -> None:
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    with open(os.devnull, "w") as nowhere:
        sys.stdout = nowhere
        try:
            get_device(device)
            observe(lambda call: _send(sender, call))
            with ag.device(device):
                runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            sender.send(None if stop.code in (None, 0) else f"it has ended with exit status {stop.code}.")
        except BaseException:
            sender.send(traceback.format_exc().rstrip())
        else:
            sender.send(None)
        finally:
            sys.stdout = sys.__stdout__


def _send(sender: Connection, call: KernelCall) -> None:
    if threading.current_thread() is not threading.main_thread() or _makes_a_constant(call):
        return
    updated = len(call.op.updates)
    results = call.results or call.arrays[:updated]
    sender.send(
        Record(
            call.op.name,
            source_line(),
            _on_host(call, call.arrays[updated:]),
            _on_host(call, results),
            dict(call.attributes),
        )
    )


def _makes_a_constant(call: KernelCall) -> bool:
    """Whether a call is one of those that a device may save itself, where it keeps the constant from the last time."""
    return not call.op.inputs and "key" not in call.attributes


def _on_host(call: KernelCall, arrays: Sequence[Any]) -> tuple[np.ndarray[Any, Any], ...]:
    device = call.table.device
    adopted = [x if type(x) is device.array_type else call.table.adopt(call.op.name, x) for x in arrays]
    return tuple(np.array(device.backend.to_host(x)) for x in adopted)
