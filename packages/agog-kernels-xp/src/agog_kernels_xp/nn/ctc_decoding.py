"""CTC decoding: the greedy search and the beam search."""

from __future__ import annotations

import math
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.nn.softmax import log_softmax
from agog_kernels_xp.parts.rows import wide

_Prefix = tuple[int, ...]
_NEVER = -math.inf


def ctc_greedy_decoder(
    xp: Any, inputs: Array, sequence_length: Array, *, merge_repeated: bool
) -> tuple[Array, Array, Array, Array]:
    """The likeliest class at each time, without blanks and repetitions."""
    time, batch, classes = inputs.shape
    counts = xp.arange(time)[:, None] < sequence_length
    if time:
        best, highest = inputs.argmax(2), wide(inputs).max(2)
    else:
        best, highest = xp.zeros((0, batch), "int64"), xp.zeros((0, batch), wide(inputs).dtype)
    is_label = counts & (best != classes - 1)
    if merge_repeated:
        is_label[1:] &= best[1:] != best[:-1]
    by_example = is_label.T
    rows, times = xp.nonzero(by_example)
    places = xp.cumsum(by_example, axis=1)[rows, times] - 1
    longest = by_example.sum(axis=1).max() if batch else 0
    cost = -xp.where(counts, highest, highest.dtype.type(0)).sum(axis=0)
    return (
        xp.stack([rows, places], axis=1).astype("int64"),
        best.T[by_example].astype("int64"),
        xp.asarray([batch, int(longest)], dtype="int64"),
        cost[:, None].astype(inputs.dtype),
    )


def ctc_beam_search_decoder(
    xp: Any, inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[Array, ...]:
    """The likeliest labels; example by example, on the host: what to look at next depends on what was found."""
    found = []
    logarithms = log_softmax(xp, wide(inputs), axis=2)
    for example, length in enumerate(sequence_length.tolist()):
        paths = _search(logarithms[:length, example].tolist(), inputs.shape[2] - 1, beam_width)
        if len(paths) < top_paths:
            raise InvalidArgumentError(
                f"ctc_beam_search_decoder: Less leaves in the beam search than requested: example {example} has "
                f"{len(paths)} candidates, and top_paths is {top_paths}."
            )
        found.append(paths[:top_paths])
    results: list[Array] = []
    for path in range(top_paths):
        labels = [_merged(paths[path][0]) if merge_repeated else paths[path][0] for paths in found]
        indices = [[row, place] for row, each in enumerate(labels) for place in range(len(each))]
        longest = max(map(len, labels), default=0)
        results += [
            xp.asarray(indices, dtype="int64").reshape(-1, 2),
            xp.asarray([label for each in labels for label in each], dtype="int64"),
            xp.asarray([len(labels), longest], dtype="int64"),
        ]
    scores = xp.asarray([[score for _, score in paths] for paths in found], dtype=logarithms.dtype)
    return (*results, scores.reshape(-1, top_paths).astype(inputs.dtype))


def _search(rows: list[list[float]], blank: int, beam_width: int) -> list[tuple[_Prefix, float]]:
    """Labels and the logarithms of their probabilities, the likeliest first."""
    # For each beginning of the labels: the logarithms of the probabilities to end in a blank, and in its last label.
    beam: dict[_Prefix, tuple[float, float]] = {(): (0.0, _NEVER)}
    for row in rows:
        following: dict[_Prefix, tuple[float, float]] = {}

        def arrive(prefix: _Prefix, in_blank: float, in_label: float, into: Any = following) -> None:
            known_blank, known_label = into.get(prefix, (_NEVER, _NEVER))
            into[prefix] = _either(known_blank, in_blank), _either(known_label, in_label)

        for prefix, (in_blank, in_label) in beam.items():
            total = _either(in_blank, in_label)
            arrive(prefix, total + row[blank], in_label + row[prefix[-1]] if prefix else _NEVER)
            for label in range(blank):
                # After the same label, only a blank between makes another one of it.
                before = in_blank if prefix and prefix[-1] == label else total
                if before > _NEVER:
                    arrive((*prefix, label), _NEVER, before + row[label])
        likeliest = sorted(following.items(), key=lambda item: -_either(*item[1]))
        beam = dict(likeliest[:beam_width])
    return [(prefix, _either(*ends)) for prefix, ends in beam.items()]


def _either(a: float, b: float) -> float:
    """The logarithm of the sum of two probabilities."""
    high, low = (a, b) if a >= b else (b, a)
    return high if low == _NEVER else high + math.log1p(math.exp(low - high))


def _merged(labels: _Prefix) -> _Prefix:
    return tuple([label for place, label in enumerate(labels) if not place or label != labels[place - 1]])
