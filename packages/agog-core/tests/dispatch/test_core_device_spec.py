"""Device names, part by part."""

from __future__ import annotations

import pytest

import agog_core as ag
from agog_core import DeviceSpec
from agog_testing import says


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/job:worker/replica:0/task:1/device:GPU:2", "/job:worker/replica:0/task:1/device:GPU:2"),
        ("cpu:0", "/device:CPU:0"),
        ("/gpu:*", "/device:GPU:*"),
        ("/device:fake", "/device:FAKE:*"),
        ("/job:ps", "/job:ps"),
        ("", ""),
    ],
)
def test_names_are_read_and_written(text: str, name: str) -> None:
    spec = DeviceSpec.from_string(text)
    assert spec.to_string() == name
    assert repr(spec) == f"DeviceSpec({name!r})"


def test_parts() -> None:
    spec = DeviceSpec(job="worker", replica=1, task=2, device_type="gpu", device_index=0)
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("worker", 1, 2, "GPU", 0)
    spec.merge_from(DeviceSpec(task=3, device_index=1))
    assert spec.to_string() == "/job:worker/replica:1/task:3/device:GPU:1"
    assert spec.parse_from_string("/cpu:0") is spec
    assert spec.to_string() == "/device:CPU:0"


@pytest.mark.parametrize(("text", "part"), [("pu:0", "pu:0"), ("/cpu:x", "cpu:x"), ("/job:a/task:b", "task:b")])
def test_unknown_parts(text: str, part: str) -> None:
    with says(
        ValueError,
        f"Unknown attribute: {part!r} in {text!r}; the parts of a device name are job:NAME, replica:N, task:N and "
        "device:TYPE:N.",
    ):
        DeviceSpec.from_string(text)


def test_two_types() -> None:
    with says(ValueError, "DeviceSpec: a name has one device type; got 'cpu' and 'gpu' in '/cpu:0/gpu:0'."):
        DeviceSpec.from_string("/cpu:0/gpu:0")


def test_scopes_take_them() -> None:
    for spec in (DeviceSpec(device_type="CPU"), DeviceSpec("localhost", 0, 0, "CPU", 0)):
        with ag.device(spec):
            assert ag.constant(1.0).device == ag.list_devices()[0]
