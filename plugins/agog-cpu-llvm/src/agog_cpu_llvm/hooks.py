"""Hooks: the plugin brings a compiler for parts of traced functions on the device "cpu"."""

from __future__ import annotations

from collections.abc import Iterator

from agog_core.plugin import Compiler, hookimpl, requires


def unavailable() -> str | None:
    """Why nothing can be compiled, a sentence; what it looks at is imported when somebody asks."""
    from agog_cpu_llvm import presence

    return presence.unavailable()


requires(2)


@hookimpl
def agog_compilers() -> Iterator[Compiler]:
    """The compiler."""
    yield Compiler(
        name="llvm",
        device="cpu",
        compile="agog_cpu_llvm.compiler:compile",
        takes="agog_cpu_llvm.compiler:takes",
        unavailable=unavailable,
    )
