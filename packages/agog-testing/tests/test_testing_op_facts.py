"""What ops say of themselves holds: their effects, what is elementwise, and what decides sizes by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.dispatch.kernels.candidates import candidates_of_all_ops
from agog_core.dispatch.op import Op, all_ops
from agog_core.dispatch.reports import glossary
from agog_core.dispatch.reports.anatomy import arguments, attributes
from agog_core.plugin import load_reference
from agog_core.shapes import TensorShape
from agog_testing.opinfo import table
from agog_testing.subject import map_arrays

KERNELS = candidates_of_all_ops()
KEY = "tuple[int, int, int]"  # of random bits
OPS = {name: op for name, op in all_ops().items() if op.function.__module__.startswith("agog_core.")}


def reference(name: str) -> Any:
    """The function of an op's reference kernel for the CPU."""
    of_cpu = [candidate.kernel for candidate in KERNELS[name] if candidate.kernel.device == "cpu"]
    return load_reference(min(of_cpu, key=lambda kernel: kernel.priority).fn)


def own_attributes(op: Op) -> dict[str, str]:
    return attributes(op, [c.kernel for c in KERNELS[op.name] if c.kernel.device == "cpu"])


@pytest.mark.parametrize("name", OPS)
def test_effect(name: str) -> None:
    op = OPS[name]
    drawn = own_attributes(op).get("key") == KEY
    expected = "update" if op.updates else "view" if op.views else "random" if drawn else "host" if op.host else "none"
    assert op.effect == expected
    assert op.host == (op.dtypes <= {ag.string} or op.dtype is ag.string)


@pytest.mark.parametrize("name", OPS)
def test_late_attributes_are_numbers_that_kernels_take(name: str) -> None:
    op, found = OPS[name], own_attributes(OPS[name])
    assert set(op.late) <= set(found)
    assert bool(op.late) == (found.get("key") == KEY or not {"scale", "learning_rate"}.isdisjoint(found))
    assert all(found[each] in ("float", "int", KEY) for each in op.late)
    if op.updates:
        assert set(op.late) == {each for each, kind in found.items() if kind in ("float", "int")}


def grid(op: Op) -> list[np.ndarray[Any, Any]]:
    """Inputs of one shape for an op, whose values differ all over."""
    rng = np.random.default_rng(7)
    dtype = next(d for d in (ag.float32, ag.int32, ag.bool, ag.complex64, ag.string) if d in op.dtypes)
    count = 2 if op.variadic else len(op.inputs)
    values = [rng.permutation(np.arange(1, 25)).reshape(2, 3, 4) for _ in range(count)]
    if dtype is ag.string:
        return [np.array([str(x).encode() for x in v.flat], object).reshape(v.shape) for v in values]
    return [
        (v % 2 if dtype is ag.bool else v / 30 if dtype.is_differentiable else v).astype(dtype.numpy_dtype)
        for v in values
    ]


ATTRIBUTES: dict[str, dict[str, Any]] = {
    "cast": {"dtype": "float64"},
    "gelu": {"approximate": False},
    "gelu_grad": {"approximate": False},
    "leaky_relu": {"alpha": 0.2},
    "leaky_relu_grad": {"alpha": 0.2},
    "string_to_number": {"dtype": "float32"},
    "string_to_hash_bucket": {"num_buckets": 10},
    "string_to_hash_bucket_fast": {"num_buckets": 10},
    "string_to_hash_bucket_strong": {"num_buckets": 10, "key": (1, 2)},
    "as_string": {"form": "%g", "is_complex": False},
    "regex_replace": {"pattern": "1", "rewrite": "2", "replace_global": True},
    "regex_full_match": {"pattern": "1."},
    "encode_base64": {"pad": False},
    "string_join": {"separator": b"-"},
    "string_length": {"unit": "BYTE"},
}


@pytest.mark.parametrize(
    "name", [name for name, op in OPS.items() if op.elementwise and name not in ("substr", "decode_base64")]
)
def test_elementwise(name: str) -> None:
    inputs = grid(OPS[name])
    if name == "where":
        inputs[0] = inputs[0] > 0.4
    kernel, more = reference(name), ATTRIBUTES.get(name, {})
    turned, last = [x[::-1, :, ::-1] for x in inputs], [x[1:, 2:, 3:] for x in inputs]
    with np.errstate(all="ignore"):
        whole, flipped, one = (np.asarray(kernel(*each, **more)) for each in (inputs, turned, last))
    assert whole.shape == (2, 3, 4)
    np.testing.assert_array_equal(flipped[::-1, :, ::-1], whole)
    np.testing.assert_array_equal(one, whole[1:, 2:, 3:])


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if not op.elementwise])
def test_no_other_op_is_elementwise(name: str) -> None:
    op = OPS[name]
    if own_attributes(op) or op.updates or not op.inputs or op.dtypes <= {ag.string}:
        return  # attributes such as an axis, and memory that is written, make it another kind of op
    inputs = grid(op)
    try:
        whole = np.asarray(reference(name)(*inputs))
        flipped = np.asarray(reference(name)(*(x[::-1, ::-1, ::-1] for x in inputs)))
    except Exception:
        return  # it does not take inputs of one shape
    assert whole.shape != (2, 3, 4) or not np.array_equal(flipped[::-1, ::-1, ::-1], whole, equal_nan=True)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if not op.updates and not op.elementwise])
def test_what_depends_on_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, info, left_open = OPS[name], table[name], []
    clear_tables()  # some ops ask no rule any more once their kernel is known
    original = op.shape

    def shape(*shapes: Any, **attributes: Any) -> Any:
        result = original(*shapes, **attributes)
        told = result if isinstance(result, list) else [result]
        told = told if op.reserve is None else told[:-1]  # whose shape is the kernel's own
        left_open.append(any(isinstance(each, TensorShape) for each in told))
        return result

    monkeypatch.setattr(op, "shape", shape)
    dtype = next((d for d in ("float32", "int32", "string") if d in info.dtypes), info.dtypes[0])
    for sample, _ in zip(info.samples(dtype, np.random.default_rng(1)), range(3), strict=False):
        info.call(*(map_arrays(ag.constant, each) for each in sample.args), **sample.kwargs)
    assert left_open or name == "matmul"  # which is written out
    assert op.depends_on_values == bool(op.host_reads) == any(left_open)


@pytest.mark.parametrize("name", OPS)
def test_every_attribute_is_explained(name: str) -> None:
    said = arguments(OPS[name].function)
    assert [each for each in own_attributes(OPS[name]) if not (said.get(each) or glossary.meaning(name, each))] == []


def test_the_glossary_explains_only_what_there_is() -> None:
    named = {(name, each) for name, op in OPS.items() for each in own_attributes(op)}
    known = {f"{name}.{each}" for name, each in named} | {each for _, each in named}
    assert sorted(glossary.ATTRIBUTES.keys() - known) == []
