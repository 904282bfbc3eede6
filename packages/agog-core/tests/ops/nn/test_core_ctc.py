"""The loss of connectionist temporal classification, against an enumeration of all alignments."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn
from agog_core.ops.nn.ctc import ctc_loss
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_testing.gradcheck import gradcheck

SEED = 7
TIME, CLASSES = 4, 3
LABELS = [[0, 1], [1, 1], [], [0]]
LENGTHS = [4, 4, 2, 3]
LOGITS = np.random.default_rng(SEED).uniform(-2, 2, (TIME, len(LABELS), CLASSES))


def sparse(rows: list[list[int]]) -> SparseTensor:
    indices = [[n, position] for n, row in enumerate(rows) for position in range(len(row))]
    values = [label for row in rows for label in row]
    shape = [len(rows), max(map(len, rows))]
    return SparseTensor(np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int32), np.array(shape))


def collapsed(alignment: tuple[int, ...], merge: bool) -> list[int]:
    kept = [k for k, _ in itertools.groupby(alignment)] if merge else list(alignment)
    return [symbol for symbol in kept if symbol != CLASSES - 1]


def enumerated(labels: list[int], logits: np.ndarray, merge: bool) -> float:
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    total = 0.0
    for alignment in itertools.product(range(CLASSES), repeat=len(logits)):
        if collapsed(alignment, merge) == labels:
            total += float(np.prod([row[symbol] for row, symbol in zip(probabilities, alignment, strict=True)]))
    return -float(np.log(total))


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("time_major", [True, False])
def test_loss_is_that_of_all_alignments(merge: bool, time_major: bool) -> None:
    inputs = LOGITS if time_major else LOGITS.transpose(1, 0, 2)
    result = ctc_loss(sparse(LABELS), inputs, LENGTHS, ctc_merge_repeated=merge, time_major=time_major)
    expected = [enumerated(row, LOGITS[:n, b], merge) for b, (row, n) in enumerate(zip(LABELS, LENGTHS, strict=True))]
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12, err_msg=f"seed {SEED}")


def test_repeated_labels_can_be_collapsed_first() -> None:
    result = ctc_loss(sparse([[1, 1, 0, 0]]), LOGITS[:, :1], [4], preprocess_collapse_repeated=True)
    np.testing.assert_allclose(result.numpy(), [enumerated([1, 0], LOGITS[:, 0], True)], rtol=1e-12)


def test_longer_labels_can_be_ignored() -> None:
    logits = ag.constant(LOGITS[:, :2])
    with ag.GradientTape() as tape:
        tape.watch(logits)
        loss = ctc_loss(sparse([[0, 1, 0], [1]]), logits, [2, 3], ignore_longer_outputs_than_inputs=True)
    np.testing.assert_allclose(loss.numpy(), [0, enumerated([1], LOGITS[:3, 1], True)], rtol=1e-12)
    gradient = tape.gradient(loss, logits).numpy()
    assert not gradient[:, 0].any()
    assert gradient[:3, 1].all()
    assert not gradient[3].any()


def test_impossible_labels_have_no_gradient() -> None:
    """Two equal labels need a blank between them."""
    logits = ag.constant(LOGITS[:2, :1])
    with ag.GradientTape() as tape:
        tape.watch(logits)
        loss = ctc_loss(sparse([[1, 1]]), logits, [2])
    assert loss.numpy().tolist() == [np.inf]
    assert not tape.gradient(loss, logits).numpy().any()


def test_third_derivative() -> None:
    gradcheck(lambda z: ctc_loss(sparse([[0]]), z, [2]), [LOGITS[:2, :1]], order=3, seed=SEED)


def test_long_sequences_do_not_underflow() -> None:
    """Each of 2000 steps has probability 1/2 for the only class of the only alignment."""
    result = ctc_loss(sparse([[]]), np.zeros((2000, 1, 2)), [2000])
    np.testing.assert_allclose(result.numpy(), [2000 * np.log(2)], rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "lengths", "text"),
    [
        (
            [[0, 1, 0]],
            [2],
            "ctc_loss: Not enough time for target transition sequence (required: 3, available: 2) of example 0. Give "
            "longer inputs, or ignore_longer_outputs_than_inputs=True.",
        ),
        ([[0]], [5], "ctc_loss: sequence_length of example 0 is 5, but there are 4 time steps."),
        (
            [[2]],
            [4],
            "ctc_loss: label 2 of example 0 is out of range: the labels are 0 to 1, and class 2 is the blank.",
        ),
        ([[0], [1]], [4], "ctc_loss: labels are for example 1, but there are 1 examples."),
    ],
)
def test_errors(rows: list[list[int]], lengths: list[int], text: str) -> None:
    with pytest.raises(ag.errors.InvalidArgumentError, match=f"^{re.escape(text)}$"):
        ctc_loss(sparse(rows), LOGITS[:, :1], lengths)


def test_labels_must_be_sparse() -> None:
    text = "ctc_loss: labels must be a SparseTensor; got [[0]] of type list."
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        ctc_loss([[0]], LOGITS[:, :1], [4])  # type: ignore[arg-type]  # it is wrong


def test_beam_search_finds_the_likeliest_labels_in_order() -> None:
    decoded, logarithms = nn.ctc_beam_search_decoder(LOGITS, LENGTHS, top_paths=3, merge_repeated=False)
    for example, length in enumerate(LENGTHS):
        logits = LOGITS[:length, example]
        every = {tuple(collapsed(alignment, True)) for alignment in itertools.product(range(CLASSES), repeat=length)}
        best = sorted((enumerated(list(labels), logits, True), labels) for labels in every)[:3]
        np.testing.assert_allclose(logarithms.numpy()[example], [-loss for loss, _ in best], rtol=1e-12)
        for path, (_, labels) in zip(decoded, best, strict=True):
            rows = path.indices.numpy()[:, 0]
            assert tuple(path.values.numpy()[rows == example].tolist()) == labels


def test_narrow_beam_keeps_what_is_likeliest_at_each_time() -> None:
    """A beam of one takes the likeliest class at the first time, whatever comes."""
    probabilities = np.array([[[0.5, 0.1, 0.4]], [[0.1, 0.8, 0.1]]])
    (decoded,), _ = nn.ctc_beam_search_decoder(np.log(probabilities), [2], beam_width=1)
    assert decoded.values.numpy().tolist() == [0, 1]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 0.02), ("bfloat16", 0.1), ("float32", 1e-5)])
def test_second_derivatives_of_narrow_floats(dtype: str, tolerance: float) -> None:
    """They are near those in float64."""

    def second(dtype: str) -> np.ndarray:
        logits = ag.cast(ag.constant(LOGITS), dtype)
        with ag.GradientTape() as outer:
            outer.watch(logits)
            with ag.GradientTape() as inner:
                inner.watch(logits)
                loss = ag.reduce_sum(ctc_loss(sparse(LABELS), logits, LENGTHS))
            total = ag.reduce_sum(inner.gradient(loss, logits) * ag.cast(ag.constant(LOGITS[::-1]), dtype))
        return np.asarray(ag.cast(outer.gradient(total, logits), "float64").numpy())

    np.testing.assert_allclose(second(dtype), second("float64"), rtol=0, atol=tolerance)
