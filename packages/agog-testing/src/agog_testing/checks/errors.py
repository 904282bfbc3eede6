"""Errors: the type and text of failing calls."""

from __future__ import annotations

import agog_core as ag
from agog_testing.subject import Subject, Violation


def check_errors(subject: Subject) -> None:
    """Check that wrong calls fail, with the right type and the whole text."""
    rule = "a wrong call fails with the error that the op documents"
    for sample in subject.info.errors:
        if sample.dtype != subject.dtype:
            continue
        wanted = f"{sample.error.__name__}: {sample.text}"
        with ag.device(subject.device.name):
            args, kwargs, _ = subject.arguments(sample)
            with subject.chosen():
                try:
                    subject.info.call(*args, **kwargs)
                    subject.device.synchronize()  # a device may tell of wrong values when it is waited for
                except Exception as error:
                    got = f"{type(error).__name__}: {error}"
                    if type(error) is not sample.error or str(error) != sample.text:
                        raise Violation(rule, "an error", wanted, got) from error
                else:
                    raise Violation(rule, "an error", wanted, "no error")
