"""Multi-tensor updates: joint updates of several variables, compared with single ones."""

from __future__ import annotations

from typing import Any

from agog_testing.checks.recording import kernel_calls, on_device, repeat
from agog_testing.checks.values import differing
from agog_testing.opinfo import Sample
from agog_testing.subject import KernelCall, Subject, Untaken, Violation

RULE = "a kernel gives for several variables at once what it gives for each"
FEWEST = 30
"""How many variables are updated at once; a kernel may have room for some only."""


def check_several(subject: Subject) -> None:
    """Compare `Kernel.several` with the kernel itself, on samples with equal attributes."""
    assert subject.several is not None
    left, has_taken = list(kernel_calls(subject)), False
    others = _with_other_values(subject)
    while left:
        attributes: Any = left[0][1].attributes
        alike = [each for each in left if each[1].attributes == attributes]
        left = [each for each in left if each[1].attributes != attributes]
        alike += [each for each in others if each[1].attributes == attributes]
        alike *= -(-FEWEST // len(alike))
        groups = [tuple(on_device(subject, call.before)) for _, call in alike]
        try:
            has_taken |= subject.several(groups, **attributes) is not NotImplemented and _check(subject, alike, groups)
        except Violation:
            raise
        except Exception as error:
            raise Violation(RULE, alike[0][0].name, "updates", f"{type(error).__name__}: {error}") from error
    if not has_taken:
        raise Untaken(RULE, "all", "updates", "NotImplemented for each call")


def _with_other_values(subject: Subject) -> list[tuple[Sample, KernelCall]]:
    """Calls in the same shapes: variables of one shape are not to share a gradient."""
    return [(sample, call) for sample in subject.samples(seed=1) for call in subject.run(sample).calls]


def _check(subject: Subject, calls: list[tuple[Sample, KernelCall]], groups: list[tuple[Any, ...]]) -> bool:
    count = len(subject.info.op.updates)
    for number, ((sample, call), group) in enumerate(zip(calls, groups, strict=True)):
        wanted = repeat(subject, on_device(subject, call.before), call.attributes)[:count]
        for array, expected in zip(group, wanted, strict=False):
            differing(subject, subject.host(array), expected, RULE, f"{sample.name}, variable {number} of {len(calls)}")
    return True
