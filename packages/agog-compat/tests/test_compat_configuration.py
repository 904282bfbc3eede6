"""Configuration: it keeps what a program sets, and limits the memory of GPUs."""

from __future__ import annotations

import re

import pytest

from agog_compat import configuration
from agog_compat.configuration import ConfigProto, GPUOptions
from agog_core.dispatch.devices import memory
from agog_core.dispatch.plugins.backend import MemoryStats
from agog_core.errors import InvalidArgumentError, UnimplementedError
from agog_testing import says


def test_fields_have_the_empty_values_of_their_types() -> None:
    config = ConfigProto()
    assert (config.allow_soft_placement, config.intra_op_parallelism_threads) == (False, 0)
    assert (config.gpu_options.per_process_gpu_memory_fraction, config.gpu_options.visible_device_list) == (0.0, "")
    config.device_count["GPU"] = 0
    assert (config.device_count, ConfigProto().device_count) == ({"GPU": 0}, {})


def test_what_is_set_is_kept() -> None:
    config = ConfigProto(log_device_placement=True, gpu_options=GPUOptions(per_process_gpu_memory_fraction=0.5))
    config.gpu_options.allow_growth = True
    assert config.log_device_placement
    assert (config.gpu_options.allow_growth, config.gpu_options.per_process_gpu_memory_fraction) == (True, 0.5)
    assert isinstance(ConfigProto(gpu_options=None).gpu_options, GPUOptions)


def test_numbers_of_devices_are_a_map_as_in_the_message() -> None:
    counts = {"CPU": 2, "GPU": 0}
    config = ConfigProto(device_count=counts)
    assert config.device_count == counts
    assert config.device_count is not counts
    assert ConfigProto(device_count=None).device_count == {}
    for wrong in (3, ["GPU"], {"GPU": "0"}, {0: 1}, {"GPU": True}):
        with says(
            TypeError,
            "ConfigProto: device_count must be a dict of types of devices and integers, such as {'GPU': 0}; got "
            f"{wrong!r}.",
        ):
            ConfigProto(device_count=wrong)


def test_more_devices_than_a_program_may_use_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "count_devices", lambda device: {"cpu": 1, "gpu": 2}[device])
    configuration.warn_of_more_devices({"CPU": 4, "GPU": 2})
    text = (
        "ConfigProto: device_count is 0 for GPU, and there are 2, which a program that runs cannot hide. Ops run on "
        "the CPU unless tf.device says otherwise; to hide GPUs set the environment variable CUDA_VISIBLE_DEVICES "
        "before the program starts."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        configuration.warn_of_more_devices({"GPU": 0})


def test_a_field_that_does_not_exist_is_refused() -> None:
    with says(
        TypeError,
        "GPUOptions has no field 'allow_grow'; it has per_process_gpu_memory_fraction, allow_growth, "
        "visible_device_list, allocator_type, deferred_deletion_bytes, force_gpu_compatible, "
        "polling_active_delay_usecs, polling_inactive_delay_msecs.",
    ):
        GPUOptions(allow_grow=True)


def test_a_part_of_the_memory_of_each_gpu_is_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    totals = {"gpu:0": 1000, "gpu:1": 801}
    monkeypatch.setattr(configuration, "count_devices", lambda device: {"gpu": 2}[device])
    monkeypatch.setattr(memory, "memory_stats", lambda device: MemoryStats(total=totals[device]))
    monkeypatch.setattr(memory, "set_memory_limit", lambda limit, device: done.append((device, limit)))
    configuration.limit_gpu_memory(GPUOptions(allow_growth=True))
    assert done == []
    configuration.limit_gpu_memory(GPUOptions(per_process_gpu_memory_fraction=0.5))
    assert done == [("gpu:0", 500), ("gpu:1", 400)]


def test_a_part_of_unknown_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "count_devices", lambda device: 1)
    monkeypatch.setattr(memory, "memory_stats", lambda device: MemoryStats())
    with says(
        UnimplementedError,
        "GPUOptions: per_process_gpu_memory_fraction is a part of the GPU's memory, and the backend for device gpu:0 "
        "does not tell how much that is. Use tf.set_memory_limit.",
    ):
        configuration.limit_gpu_memory(GPUOptions(per_process_gpu_memory_fraction=0.5))


@pytest.mark.parametrize("fraction", [-0.1, 1.5])
def test_a_part_that_is_none_is_refused(fraction: float) -> None:
    with says(InvalidArgumentError, f"GPUOptions: per_process_gpu_memory_fraction must be in [0, 1]; got {fraction}."):
        configuration.limit_gpu_memory(GPUOptions(per_process_gpu_memory_fraction=fraction))
