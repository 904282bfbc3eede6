"""DLPack and a device that does not speak it."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_testing import says

NAME = "/job:localhost/replica:0/task:0/device:FAKE:1"


def on_fake() -> ag.Tensor:
    with ag.device("fake:1"):
        return ag.constant([1.0, 2.0])


def test_there_is_no_number_for_the_device() -> None:
    text = f"DLPack has no number for {NAME}; copy the tensor to the host first, such as x.cpu()."
    for ask in (on_fake().__dlpack_device__, on_fake().__dlpack__):
        with says(BufferError, text):
            ask()


def test_the_host_gets_a_copy_where_it_asks_for_one() -> None:
    assert "dltensor" in repr(on_fake().__dlpack__(dl_device=(1, 0)))
    with says(
        BufferError,
        f"__dlpack__: the tensor is on {NAME}, and DLPack's device (1, 0) was asked for with copy=False; copy it there "
        "first, such as x.cpu() or x.to_device(name).",
    ):
        on_fake().__dlpack__(dl_device=(1, 0), copy=False)


def test_imports_go_to_the_device_that_is_named() -> None:
    x = ag.from_dlpack(np.array([1.0, 2.0]), device="fake:1")
    assert x.device == NAME
    assert x.numpy().tolist() == [1.0, 2.0]


def test_a_tensor_elsewhere_needs_a_copy() -> None:
    with says(BufferError, f"from_dlpack: the tensor is on {NAME}, so one on fake:0 needs a copy; got copy=False."):
        ag.from_dlpack(on_fake(), device="fake:0", copy=False)
