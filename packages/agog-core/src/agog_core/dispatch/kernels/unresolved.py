"""Unresolved: what errors say of an op that no kernel runs, all decline, or several of equal rank could run."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.dispatch.kernels.candidates import Candidate, candidates_of_all_ops


def missing(
    op: str, device: str, dtype: str, shapes: Sequence[tuple[int, ...]], rejected: list[tuple[Candidate, str]]
) -> str:
    """Say that there is no usable kernel, why, and what to do."""
    called = f", called with shapes {_shown(shapes)}" if shapes else ""
    return "\n".join(
        [
            f"No kernel is registered for op {op!r} on device {device!r} with dtype {dtype}{called}.",
            *_circumstances(op, device, rejected),
            f"{_where(op, device)} a plugin that brings the kernel. {_again(op, device, dtype)}",
        ]
    )


def declined(
    op: str,
    device: str,
    dtype: str,
    shapes: Sequence[tuple[int, ...]],
    candidates: list[Candidate],
    rejected: list[tuple[Candidate, str]],
) -> str:
    """Say that each usable kernel declines a call, when each does not, and what to do."""
    called = f"with shapes {_shown(shapes)}" if shapes else "without inputs"
    return "\n".join(
        [
            f"Every kernel for op {op!r} on device {device!r} with dtype {dtype} declines a call {called}.",
            *(f"  declines: {candidate}" for candidate in candidates),
            *_circumstances(op, device, rejected),
            f"{_where(op, device)} a plugin whose kernel takes it. {_again(op, device, dtype)}",
        ]
    )


def _circumstances(op: str, device: str, rejected: list[tuple[Candidate, str]]) -> list[str]:
    """Which kernels cannot be used and why, which there are for other devices, and which plugins are not there."""
    from agog_core.dispatch.plugins.loader import loader

    lines = [f"  rejected: {candidate}: {why}" for candidate, why in rejected]
    known = candidates_of_all_ops().get(op, [])
    lines += [f"  registered: on device {c.kernel.device!r} by {c}" for c in known if c.kernel.device != device]
    lines += [] if known else ["  registered: nowhere, by no plugin"]
    lines += [
        f"  failed to load: plugin {p.name!r} ({p.distribution}): {p.failure}"
        for p in loader().plugins
        if p.failure is not None
    ]
    lines += [
        f"  left out by AGOG_PLUGINS: plugin {p.name!r} ({p.distribution})" for p in loader().plugins if p.skipped
    ]
    return lines


def _shown(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes))


def _where(op: str, device: str) -> str:
    elsewhere = [c.kernel.device for c in candidates_of_all_ops().get(op, []) if c.kernel.device != device]
    return f"Run it elsewhere (with tf.device({elsewhere[0]!r}):), or install" if elsewhere else "Install"


def _again(op: str, device: str, dtype: str) -> str:
    return f"`agog explain {op} --device {device} --dtype {dtype}` prints this again."


def ambiguous(op: str, device: str, dtype: str, best: list[Candidate]) -> str:
    """Say that several kernels are of equal rank, and how to choose."""
    lines = [f"{len(best)} kernels of equal rank are registered for op {op!r} on device {device!r} with dtype {dtype}:"]
    lines += [f"  {candidate}" for candidate in best]
    if len({candidate.plugin.name for candidate in best}) == 1:
        lines.append("They come from one plugin, which must give them different priorities or dtypes.")
        return "\n".join(lines)
    lines.append(
        f"Choose one: agog.prefer({best[0].plugin.name!r}), or AGOG_PREFER={best[0].plugin.name} in the environment."
    )
    return "\n".join(lines)
