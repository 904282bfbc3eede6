"""tf.train.Example: the bytes of the messages, and what parsing makes of them."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset, Iterator
from agog_data.elements import tensor_components
from agog_data.examples.features import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from agog_data.examples.messages import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from agog_data.examples.parsing import parse_example, parse_example_dataset, parse_single_example
from agog_data.examples.sequences import parse_single_sequence_example
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def integers(*values: int) -> Any:
    return Feature(int64_list=Int64List(value=values))


def floats(*values: float) -> Any:
    return Feature(float_list=FloatList(value=values))


def strings(*values: bytes) -> Any:
    return Feature(bytes_list=BytesList(value=values))


def example(**features: Any) -> bytes:
    data: bytes = Example(features=Features(feature=features)).SerializeToString()
    return data


BATCH = [
    example(
        pair=integers(1, 2), words=strings(b"x", b"y"), at=integers(3, 1), values=floats(0.5, 0.25), unset=Feature()
    ),
    example(pair=integers(-5, 2**62), words=strings(), at=integers(0), values=floats(-1.0)),
    example(pair=integers(0, -1), steps=integers(4, 5, 6, 7)),
]


def shown(value: Any) -> Any:
    if isinstance(value, ag.SparseTensor):
        return [np.asarray(part.numpy()).tolist() for part in (value.indices, value.values, value.dense_shape)]
    return np.asarray(value.numpy()).tolist()


def field(number: int, data: bytes) -> bytes:
    """A field with a length, as the encoding of protobuf defines it, for short data."""
    return bytes([number << 3 | 2, len(data)]) + data


def test_the_bytes_are_those_of_the_encoding() -> None:
    lists = {
        strings(b"ab", b"").SerializeToString(): field(1, field(1, b"ab") + field(1, b"")),
        floats(1.5, -2.0).SerializeToString(): field(2, field(1, struct.pack("<2f", 1.5, -2.0))),
        integers(1, 300).SerializeToString(): field(3, field(1, b"\x01\xac\x02")),
    }
    for written, expected in lists.items():
        assert written == expected
    entry = field(1, b"key") + field(2, integers(7).SerializeToString())
    assert example(key=integers(7)) == field(1, field(1, entry))
    sequence = SequenceExample(
        context=Features(feature={"key": integers(7)}),
        feature_lists=FeatureLists(feature_list={"key": FeatureList(feature=[integers(7), integers(7)])}),
    )
    step = field(1, integers(7).SerializeToString())
    assert sequence.SerializeToString() == field(1, field(1, entry)) + field(
        2, field(1, field(1, b"key") + field(2, step * 2))
    )


def test_messages_do_not_clash_with_those_of_tensorflow() -> None:
    program = (
        "from google.protobuf.descriptor_pb2 import FileDescriptorProto\n"
        "from google.protobuf.descriptor_pool import Default\n"
        "file = FileDescriptorProto(name='tensorflow/core/example/example.proto', package='tensorflow')\n"
        "file.message_type.add(name='Example')\n"
        "from agog_data.examples.messages import Example\n"
        "Default().AddSerializedFile(file.SerializeToString())\n"
        "print(Example.DESCRIPTOR.full_name, len(Example.DESCRIPTOR.fields))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "tensorflow.Example 1\n"


FEATURES = {
    "pair": FixedLenFeature([2], ag.int64),
    "words": VarLenFeature(ag.string),
    "values": VarLenFeature(ag.float32),
    "steps": FixedLenSequenceFeature([2], ag.int64, allow_missing=True, default_value=-7),
    "letters": FixedLenSequenceFeature([], ag.string, allow_missing=True),
    "merged": SparseFeature("at", "values", ag.float32, 10),
    "unset": FixedLenFeature([], ag.string, default_value="none"),
    "absent": FixedLenFeature([1, 2], ag.float32, default_value=[[1.0, 2.0]]),
}


def test_a_batch_is_parsed() -> None:
    found = parse_example(BATCH, FEATURES)
    assert {key: shown(value) for key, value in found.items()} == {
        "pair": [[1, 2], [-5, 2**62], [0, -1]],
        "words": [[[0, 0], [0, 1]], [b"x", b"y"], [3, 2]],
        "values": [[[0, 0], [0, 1], [1, 0]], [0.5, 0.25, -1.0], [3, 2]],
        "steps": [[[-7, -7], [-7, -7]], [[-7, -7], [-7, -7]], [[4, 5], [6, 7]]],
        "letters": [[], [], []],
        "merged": [[[0, 1], [0, 3], [1, 0]], [0.25, 0.5, -1.0], [3, 10]],
        "unset": [b"none"] * 3,
        "absent": [[[1.0, 2.0]]] * 3,
    }
    assert list(found) == list(FEATURES)
    assert [value.dtype for value in found.values()] == [
        *(ag.int64, ag.string, ag.float32, ag.int64, ag.string, ag.float32, ag.string, ag.float32)
    ]
    assert found["merged"].indices.dtype == found["merged"].dense_shape.dtype == ag.int64


def test_one_example_is_parsed() -> None:
    first, _, third = (parse_single_example(serialized, FEATURES) for serialized in BATCH)
    assert {key: shown(value) for key, value in first.items()} == {
        "pair": [1, 2],
        "words": [[[0], [1]], [b"x", b"y"], [2]],
        "values": [[[0], [1]], [0.5, 0.25], [2]],
        "steps": [],
        "letters": [],
        "merged": [[[1], [3]], [0.25, 0.5], [10]],
        "unset": b"none",
        "absent": [[1.0, 2.0]],
    }
    assert first["steps"].shape.as_list() == [0, 2]
    assert shown(third["steps"]) == [[4, 5], [6, 7]]
    assert shown(third["merged"]) == [[], [], [10]]


def test_a_batch_of_none_is_parsed() -> None:
    found = parse_example(ag.constant([], ag.string), FEATURES)
    assert [value.shape.as_list() for value in found.values()] == [
        *([0, 2], [0, 0], [0, 0], [0, 0, 2], [0, 0], [0, 10], [0], [0, 1, 2])
    ]


def test_sparse_features_may_have_several_axes() -> None:
    serialized = example(row=integers(1, 0), column=integers(2, 3), value=integers(5, 6))
    feature = SparseFeature(["row", "column"], "value", ag.int64, [2, 4])
    assert shown(parse_single_example(serialized, {"m": feature})["m"]) == [[[0, 3], [1, 2]], [6, 5], [2, 4]]
    kept = feature._replace(already_sorted=True)
    assert shown(parse_example([serialized], {"m": kept})["m"]) == [[[0, 1, 2], [0, 0, 3]], [5, 6], [1, 2, 4]]


SEQUENCE = SequenceExample(
    context=Features(feature={"length": integers(3)}),
    feature_lists=FeatureLists(
        feature_list={
            "pairs": FeatureList(feature=[integers(1, 2), integers(3, 4), integers(5, 6)]),
            "words": FeatureList(feature=[strings(b"p"), strings(), strings(b"q", b"r")]),
            "at": FeatureList(feature=[integers(4), Feature(), integers(2, 1)]),
        }
    ),
).SerializeToString()


def test_a_sequence_example_is_parsed() -> None:
    context, steps = parse_single_sequence_example(
        SEQUENCE,
        {"length": FixedLenFeature([], ag.int64), "absent": VarLenFeature(ag.float32)},
        {
            "pairs": FixedLenSequenceFeature([2], ag.int64),
            "words": VarLenFeature(ag.string),
            "merged": SparseFeature("at", "words", ag.string, 5),
            "missing": FixedLenSequenceFeature([3], ag.float32, allow_missing=True),
            "absent": VarLenFeature(ag.float32),
        },
    )
    assert {key: shown(value) for key, value in context.items()} == {"length": 3, "absent": [[], [], [0]]}
    assert {key: shown(value) for key, value in steps.items()} == {
        "pairs": [[1, 2], [3, 4], [5, 6]],
        "words": [[[0, 0], [2, 0], [2, 1]], [b"p", b"q", b"r"], [3, 2]],
        "merged": [[[0, 4], [2, 1], [2, 2]], [b"p", b"r", b"q"], [3, 5]],
        "missing": [],
        "absent": [[], [], [0, 0]],
    }
    assert steps["missing"].shape.as_list() == [0, 3]


def parse(**features: Any) -> Callable[[], Any]:
    return lambda: parse_example(BATCH, features)


def parse_steps(**features: Any) -> Callable[[], Any]:
    return lambda: parse_single_sequence_example(SEQUENCE, sequence_features=features)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "missing": (
        parse(steps=FixedLenFeature([4], ag.int64)),
        InvalidArgumentError,
        "parse_example: example 0: feature 'steps' of dtype int64 is required but could not be found.",
    ),
    "dtype": (
        parse(words=FixedLenFeature([2], ag.float32)),
        InvalidArgumentError,
        "parse_example: example 0: feature 'words' has values in bytes_list; those of dtype float32 are in float_list.",
    ),
    "number of values": (
        parse(words=FixedLenFeature([2], ag.string)),
        InvalidArgumentError,
        "parse_example: example 1: feature 'words' has 0 values; shape (2,) needs 2.",
    ),
    "stride": (
        parse(steps=FixedLenSequenceFeature([3], ag.int64, allow_missing=True)),
        InvalidArgumentError,
        "parse_example: example 2: feature 'steps' has 4 values; entries of shape (3,) need a multiple of 3.",
    ),
    "names": (
        lambda: parse_example(BATCH, {"at": FixedLenFeature([2], ag.int64)}, example_names=["a", "b", "c"]),
        InvalidArgumentError,
        "parse_example: example 1 'b': feature 'at' has 1 values; shape (2,) needs 2.",
    ),
    "number of names": (
        lambda: parse_example(BATCH, FEATURES, example_names=["a"]),
        InvalidArgumentError,
        "parse_example: there are 3 examples and 1 example_names.",
    ),
    "name": (
        lambda: parse_single_example(BATCH[1], {"at": FixedLenFeature([2], ag.int64)}, example_names="b"),
        InvalidArgumentError,
        "parse_single_example: the example 'b': feature 'at' has 1 values; shape (2,) needs 2.",
    ),
    "indices": (
        parse(m=SparseFeature("pair", "values", ag.float32, 10)),
        InvalidArgumentError,
        "parse_example: feature 'm' needs an index in 'pair' for each value in 'values'; there are 6 indices and 3 "
        "values, or they are in other examples.",
    ),
    "default": (
        parse(d=FixedLenFeature([2], ag.float32, default_value=1.0)),
        InvalidArgumentError,
        "parse_example: feature 'd': the default must be of dtype float32 with 2 elements; got dtype float32 and shape "
        "().",
    ),
    "other dtype": (
        parse(pair=FixedLenFeature([2], ag.int32)),
        InvalidArgumentError,
        "parse_example: feature 'pair' must be of dtype float32, int64 or string; got int32. Cast what was parsed.",
    ),
    "no dtype": (parse(pair=VarLenFeature(None)), ValueError, "parse_example: feature 'pair' has no dtype."),
    "no shape": (
        parse(pair=FixedLenFeature(None, ag.int64)),
        ValueError,
        "parse_example: feature 'pair' has no shape.",
    ),
    "unknown shape": (
        parse(pair=FixedLenFeature([None], ag.int64)),
        ValueError,
        "parse_example: feature 'pair' needs a shape that is fully known; got (?,). For one that varies use "
        "FixedLenSequenceFeature.",
    ),
    "required": (
        parse(steps=FixedLenSequenceFeature([2], ag.int64)),
        ValueError,
        "parse_example: the FixedLenSequenceFeature 'steps' must have allow_missing=True; only sequence examples can "
        "require it.",
    ),
    "twice": (
        parse(values=VarLenFeature(ag.string), m=SparseFeature("at", "values", ag.float32, 10)),
        ValueError,
        "parse_example: the features ask for 'values' twice, in different ways.",
    ),
    "nothing": (lambda: parse_example(BATCH, {}), ValueError, "parse_example: features are missing; got {}."),
    "no feature": (
        parse(pair=ag.int64),
        ValueError,
        "parse_example: feature 'pair' must be one of FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, "
        "SparseFeature; got tf.int64.",
    ),
    "a scalar": (
        lambda: parse_example(BATCH[0], FEATURES),
        InvalidArgumentError,
        "parse_example: serialized must be a vector; got shape ().",
    ),
    "a vector": (
        lambda: parse_single_example(BATCH, FEATURES),
        InvalidArgumentError,
        "parse_single_example: serialized must be a scalar; got shape (3,).",
    ),
    "numbers": (
        lambda: parse_example([1, 2], FEATURES),
        InvalidArgumentError,
        "parse_example: serialized must hold strings; got dtype int32.",
    ),
    "missing list": (
        parse_steps(none=FixedLenSequenceFeature([2], ag.int64)),
        InvalidArgumentError,
        "parse_single_sequence_example: the example: feature list 'none' of dtype int64 is required but could not be "
        "found.",
    ),
    "a step": (
        parse_steps(at=FixedLenSequenceFeature([1], ag.int64)),
        InvalidArgumentError,
        "parse_single_sequence_example: the example: feature list 'at' at step 1 has no values.",
    ),
    "values of a step": (
        lambda: parse_single_sequence_example(
            SEQUENCE, None, {"pairs": FixedLenSequenceFeature([3], ag.int64)}, example_name="s"
        ),
        InvalidArgumentError,
        "parse_single_sequence_example: the example 's': feature list 'pairs' at step 0 has 2 values; shape (3,) needs "
        "3.",
    ),
    "context": (
        lambda: parse_single_sequence_example(SEQUENCE, {"none": FixedLenFeature([], ag.int64)}),
        InvalidArgumentError,
        "parse_single_sequence_example: the example: context feature 'none' of dtype int64 is required but could not "
        "be found.",
    ),
    "no features": (
        lambda: parse_single_sequence_example(SEQUENCE),
        ValueError,
        "parse_single_sequence_example: context_features and sequence_features are both missing.",
    ),
}


@pytest.mark.parametrize(("act", "kind", "text"), WRONG.values(), ids=WRONG)
def test_errors(act: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with says(kind, text):
        act()


def test_bytes_that_are_no_message() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^parse_example: example 1: its 2 bytes are no serialized tf.train"
    ) as batch:
        parse_example([b"", b"\xff\xff"], {"a": VarLenFeature(ag.int64)})
    assert "tf.train.Example: " in str(batch.value)
    with pytest.raises(
        InvalidArgumentError, match=r"the example: its 1 bytes are no serialized tf.train.SequenceExample"
    ):
        parse_single_sequence_example(b"\x0a", {"a": VarLenFeature(ag.int64)})


def test_datasets_of_examples() -> None:
    serialized = Dataset.from_tensor_slices(BATCH)
    features = {"pair": FEATURES["pair"], "steps": FEATURES["steps"]}
    each = [shown(one["pair"]) for one in serialized.map(lambda x: parse_single_example(x, features))]
    assert each == [[1, 2], [-5, 2**62], [0, -1]]
    batches = [
        (shown(batch["pair"]), shown(batch["steps"]))
        for batch in serialized.batch(2).apply(parse_example_dataset(features, num_parallel_calls=2))
    ]
    assert batches == [([[1, 2], [-5, 2**62]], [[], []]), ([[0, -1]], [[[4, 5], [6, 7]]])]
    with pytest.raises(ValueError, match=r"^parse_example_dataset: features are missing; got \{\}\.$"):
        parse_example_dataset({})


def test_a_missing_package_is_named() -> None:
    program = "import sys; sys.modules['google.protobuf'] = None\nfrom agog_data.examples.messages import Example"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: tf.train.Example needs the package protobuf: pip install agog-data[tfrecord]"
    )


def test_many_floats() -> None:
    values = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    # A field that the message does not know, at its end, is no float.
    unknown = FloatList(value=values).SerializeToString() + field(7, b"abcd")
    serialized = [
        example(f=floats(*values.tolist())),
        Example(
            features=Features(feature={"f": Feature(float_list=FloatList.FromString(unknown))})
        ).SerializeToString(),
        example(f=floats(1.0)),
    ]
    found = parse_example(serialized, {"f": FixedLenSequenceFeature([], ag.float32, allow_missing=True)})["f"].numpy()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [values, values, np.eye(1, 100)[0]])


def test_datasets_hold_sparse_tensors() -> None:
    features = {"words": VarLenFeature(ag.string), "pair": FEATURES["pair"]}
    each = Dataset.from_tensor_slices(BATCH).map(lambda x: parse_single_example(x, features))
    assert each.output_classes == {"words": ag.SparseTensor, "pair": ag.Tensor}
    assert each.output_types == {"words": ag.string, "pair": ag.int64}
    assert each.output_shapes["words"].as_list() == [None]
    assert each.batch(2).output_shapes["words"].as_list() == [None, None]
    joined = [shown(batch["words"]) for batch in each.batch(2)]
    assert joined == [[[[0, 0], [0, 1]], [b"x", b"y"], [2, 2]], [[], [], [1, 0]]]
    at_once = [shown(parse_example(BATCH[at : at + 2], features)["words"]) for at in (0, 2)]
    assert joined == at_once
    assert [shown(element["words"]) for element in each.cache()] == [shown(element["words"]) for element in each]
    with says(
        TypeError,
        "cache: component 1 of the elements is a SparseTensor, and only tensors can be taken; make one of it with "
        "map() and sparse_tensor_to_dense() first.",
    ):
        tensor_components("cache", next(iter(each)))


def test_sparse_tensors_in_buffers_are_saved() -> None:
    features = {"words": VarLenFeature(ag.string)}

    def make() -> Dataset:
        serialized = Dataset.from_tensor_slices(BATCH)
        return serialized.map(lambda x: parse_single_example(x, features)).shuffle(2, seed=3)

    iterator = Iterator(make())
    next(iterator)
    state = json.dumps(iterator.state_dict())
    resumed = Iterator(make())
    resumed.load_state_dict(json.loads(state))
    rest = [shown(element["words"]) for element in iterator]
    assert [shown(element["words"]) for element in resumed] == rest
    assert len(rest) == 2
    broken = json.loads(state)
    broken["buffer"] = [{"buffer": each["buffer"][:2]} for each in broken["buffer"]]
    with says(InvalidArgumentError, "load_state_dict: a buffer holds a SparseTensor without its three parts."):
        Iterator(make()).load_state_dict(broken)


def test_sparse_tensors_of_a_batch_are_alike() -> None:
    def sparse(number: Any) -> Any:
        rank = 1 + int(number)
        return ag.SparseTensor(np.zeros((1, rank), np.int64), [1.0], np.ones(rank, np.int64))

    with says(
        InvalidArgumentError,
        "batch: component 0 of element 1 of batch 0 is a SparseTensor of dtype float32 and rank 2; that of element 0 "
        "is a SparseTensor of dtype float32 and rank 1. A batch needs equal dtypes and ranks; make them equal with "
        "map() first.",
    ):
        list(Dataset.range(2).map(sparse).batch(2))
    with pytest.raises(InvalidArgumentError, match=r"^batch: component 0 of element 1 of batch 0 "):
        list(Dataset.range(2).map(lambda number: number if number.numpy() else sparse(number)).batch(2))
    with pytest.raises(InvalidArgumentError, match=r"^batch: component 0 of element 1 of batch 0 "):
        list(Dataset.range(2).map(lambda number: sparse(number) if number.numpy() else number).batch(2))
