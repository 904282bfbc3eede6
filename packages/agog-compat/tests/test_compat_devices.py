"""``tf.config``: devices under two names, and settings that are kept."""

from __future__ import annotations

import pytest

import agog_core as ag
from agog_compat import devices
from agog_core.plugin import threads
from agog_testing import says


def test_devices_have_two_names() -> None:
    (cpu,) = devices.list_physical_devices("CPU")
    (logical,) = devices.list_logical_devices("CPU")
    assert devices.list_physical_devices("TPU") == []
    with ag.device(logical.name):
        assert ag.ones([1]).device.endswith("CPU:0")
    devices.set_visible_devices(devices.get_visible_devices())
    with says(
        RuntimeError,
        f"set_visible_devices: {cpu.name} cannot be hidden from a program that runs. Choose devices with tf.device, or "
        "hide GPUs with the environment variable CUDA_VISIBLE_DEVICES.",
    ):
        devices.set_visible_devices([], "CPU")


def test_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_settings", {})
    assert devices.get_intra_op_parallelism_threads() == 0
    devices.set_intra_op_parallelism_threads(3)
    assert threads.count() == 3
    threads.set_count(0)
    devices.set_inter_op_parallelism_threads(2)
    devices.set_soft_device_placement(True)
    devices.set_memory_growth("GPU:0", True)
    devices.enable_op_determinism()
    assert (devices.get_intra_op_parallelism_threads(), devices.get_inter_op_parallelism_threads()) == (3, 2)
    assert devices.get_soft_device_placement()
