"""Execution: policies, modes and devices of a program that executes eagerly."""

from __future__ import annotations

import pytest

from agog_compat import execution
from agog_compat.configuration import ConfigProto
from agog_core.dispatch.devices.lookup import count_devices
from agog_testing import says


def test_enable_eager_execution_takes_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ConfigProto()
    config.gpu_options.allow_growth = True
    for given in (None, config):
        monkeypatch.setattr(execution, "_is_enabled", False)
        execution.enable_eager_execution(given)
    monkeypatch.setattr(execution, "_is_enabled", False)
    with says(
        TypeError,
        "enable_eager_execution: config must be a tf.ConfigProto or None; got {'allow_growth': True} of type dict.",
    ):
        execution.enable_eager_execution({"allow_growth": True})


def test_enable_eager_execution_limits_the_memory_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(execution, "_is_enabled", False)
    monkeypatch.setattr(execution, "limit_gpu_memory", given.append)
    monkeypatch.setattr(execution, "warn_of_more_devices", given.append)
    config = ConfigProto(device_count={"GPU": 1})
    execution.enable_eager_execution(config)
    assert given == [{"GPU": 1}, config.gpu_options]


def test_ops_are_done_in_both_modes() -> None:
    with execution.execution_mode(execution.ASYNC):
        execution.async_wait()
    execution.set_execution_mode(execution.ASYNC)
    execution.async_clear_error()
    execution.set_execution_mode(None)
    with says(ValueError, "set_execution_mode: the execution mode must be tfe.SYNC, tfe.ASYNC or None; got 'later'."):
        execution.set_execution_mode("later")


def test_gpus_are_counted() -> None:
    assert execution.executing_eagerly()
    assert execution.in_eager_mode is execution.executing_eagerly
    assert execution.num_gpus() == count_devices("gpu")
