"""Hooks: the plugin connects the processes of a run by MPI."""

from __future__ import annotations

from collections.abc import Iterator

from agog_core.plugin import Collective, hookimpl, requires

requires(3)


def unavailable() -> str | None:
    """Why MPI cannot be used, a sentence. It is asked where processes are about to be connected, and loads MPI."""
    try:
        from mpi4py import MPI  # noqa: F401
    except (ImportError, RuntimeError) as error:
        return f"mpi4py finds no MPI library ({error}); `python -m pip install 'agog-mpi[mpich]'` brings one."
    return None


@hookimpl
def agog_collectives() -> Iterator[Collective]:
    """MPI, for arrays in host memory."""
    yield Collective(name="mpi", devices=("cpu",), connect="agog_mpi.communicator:connect", unavailable=unavailable)
