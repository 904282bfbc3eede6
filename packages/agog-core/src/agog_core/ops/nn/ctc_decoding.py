"""CTC decoding: from the outputs of connectionist temporal classification to labels. It has no gradient."""

from __future__ import annotations

from agog_core import dtypes
from agog_core.calls.call import call_several
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.casting import cast
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors import SparseTensor, Tensor, TensorLike, convert_to_tensor

__all__ = ["ctc_beam_search_decoder", "ctc_greedy_decoder"]


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the likeliest class at each time, without blanks.

    Args:
        inputs: logits of shape (time, batch, classes); the last class is the blank.
        sequence_length: integers of shape (batch,): how many of the time steps of each example count.
        merge_repeated: whether equal classes that follow each other, without a blank between, give one label.

    Returns:
        A list of one `SparseTensor` of int64 labels of shape (batch, most labels); and minus the sum of the largest
        logits, of shape (batch, 1).

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> logits = [[[0.0, 1.0, 9.0]], [[0.0, 5.0, 1.0]], [[0.0, 5.0, 1.0]], [[7.0, 1.0, 2.0]]]
    >>> (decoded,), cost = ctc_greedy_decoder(logits, [4])
    >>> print(decoded.values, cost)
    tf.Tensor([1 0], shape=(2,), dtype=int64) tf.Tensor([[-26.]], shape=(1, 1), dtype=float32)
    """
    z, lengths = convert_to_tensor(inputs), cast(sequence_length, dtypes.int32)
    indices, values, shape, cost = call_several(_ctc_greedy_decoder, z, lengths, merge_repeated=bool(merge_repeated))
    return [SparseTensor(indices, values, shape)], cost


def _check(op: str, inputs: Shape, sequence_length: Shape) -> None:
    if len(inputs) != 3 or sequence_length != inputs[1:2] or not inputs[2]:
        raise InvalidArgumentError(
            f"{op}: inputs must be of shape (time, batch, classes), and sequence_length of shape (batch,); got inputs "
            f"{inputs} and sequence_length {sequence_length}."
        )


def _greedy_shape(inputs: Shape, sequence_length: Shape, merge_repeated: bool) -> list[Shape | TensorShape]:
    _check("ctc_greedy_decoder", inputs, sequence_length)
    return [TensorShape([None, 2]), TensorShape([None]), (2,), (inputs[1], 1)]


_ctc_greedy_decoder = define(
    ctc_greedy_decoder,
    shape=_greedy_shape,
    dtype=lambda dtype, merge_repeated: [dtypes.int64, dtypes.int64, dtypes.int64, dtype],
    dtypes=FLOATING,
    alike=["inputs"],
    host_reads=["inputs", "sequence_length"],
)


def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest labels over all their alignments, as far as a beam of candidates reaches.

    A. Graves and N. Jaitly, "Towards end-to-end speech recognition with recurrent neural networks", ICML 2014,
    algorithm 1, without a language model.

    Args:
        inputs: logits of shape (time, batch, classes); the last class is the blank.
        sequence_length: integers of shape (batch,): how many of the time steps of each example count.
        beam_width: how many candidates are kept at each time.
        top_paths: how many results there are; at most ``beam_width``.
        merge_repeated: whether consecutive equal labels in a result are merged, even if a blank was between them.

    Returns:
        A list of ``top_paths`` `SparseTensor` of int64 labels of shape (batch, most labels), the likeliest first; and
        the logarithms of their probabilities, of shape (batch, top_paths).

    Raises:
        InvalidArgumentError: the shapes do not fit, ``top_paths`` is not between 1 and ``beam_width``, or there are
            fewer candidates than that.

    >>> logits = [[[0.0, 1.0, 9.0]], [[0.0, 5.0, 1.0]], [[0.0, 5.0, 1.0]], [[7.0, 1.0, 2.0]]]
    >>> (decoded,), _ = ctc_beam_search_decoder(logits, [4])
    >>> print(decoded.values)
    tf.Tensor([1 0], shape=(2,), dtype=int64)
    """
    z, lengths = convert_to_tensor(inputs), cast(sequence_length, dtypes.int32)
    *parts, logarithms = call_several(
        _ctc_beam_search_decoder,
        z,
        lengths,
        beam_width=int(beam_width),
        top_paths=int(top_paths),
        merge_repeated=bool(merge_repeated),
    )
    return [SparseTensor(*parts[3 * path : 3 * path + 3]) for path in range(top_paths)], logarithms


def _beam_shape(
    inputs: Shape, sequence_length: Shape, beam_width: int, top_paths: int, merge_repeated: bool
) -> list[Shape | TensorShape]:
    _check("ctc_beam_search_decoder", inputs, sequence_length)
    if not 1 <= top_paths <= beam_width:
        raise InvalidArgumentError(
            f"ctc_beam_search_decoder: top_paths must be between 1 and beam_width; got top_paths={top_paths} and "
            f"beam_width={beam_width}."
        )
    path: list[Shape | TensorShape] = [TensorShape([None, 2]), TensorShape([None]), (2,)]
    return [*path * top_paths, (inputs[1], top_paths)]


_ctc_beam_search_decoder = define(
    ctc_beam_search_decoder,
    shape=_beam_shape,
    dtype=lambda dtype, beam_width, top_paths, merge_repeated: [*[dtypes.int64] * (3 * top_paths), dtype],
    dtypes=FLOATING,
    alike=["inputs"],
    host_reads=["inputs", "sequence_length"],
    may_fail=True,
)
