"""Each collective on every dtype, beside NumPy on what all ranks have; with the argument "gpu" on a GPU for each."""

import sys

import ml_dtypes
import numpy as np

import agog_core as ag
import agog_distribute as distribute

rank, size = distribute.rank(), distribute.size()
DTYPES = ("bfloat16", "float16", "float32", "float64", "int8", "int32", "int64", "uint8", "complex64", "complex128")


def of(rank, dtype, shape):
    """What a rank has; small whole numbers, which all dtypes add exactly."""
    return np.random.default_rng(rank).integers(0, 9, shape).astype(getattr(ml_dtypes, dtype, dtype))


with ag.device(f"/gpu:{distribute.local_rank()}" if sys.argv[1:] == ["gpu"] else "/cpu:0"):
    for dtype in DTYPES:
        for shape in ((2 * size, 3), (size,), (0, 2)):
            xs = np.stack([of(each, dtype, shape) for each in range(size)])
            x = ag.constant(xs[rank])
            np.testing.assert_array_equal(distribute.all_reduce(x).numpy(), xs.sum(0, dtype=xs.dtype))
            if dtype.startswith(("float", "bfloat", "complex")):
                wanted = (xs.astype("complex128").sum(0) / size).astype(xs.dtype)
                np.testing.assert_allclose(
                    distribute.all_reduce(x, "mean").numpy().astype("complex128"),
                    wanted.astype("complex128"),
                    rtol=1e-2,
                )
            if not dtype.startswith("complex"):
                np.testing.assert_array_equal(distribute.all_reduce(x, "max").numpy(), xs.max(0))
                np.testing.assert_array_equal(distribute.all_reduce(x, "min").numpy(), xs.min(0))
            np.testing.assert_array_equal(distribute.all_gather(x).numpy(), np.concatenate(xs))
            np.testing.assert_array_equal(distribute.broadcast(x, size - 1).numpy(), xs[-1])
            parts = [np.split(each, size)[rank] for each in xs]
            np.testing.assert_array_equal(distribute.all_to_all(x).numpy(), np.concatenate(parts))
            np.testing.assert_array_equal(distribute.reduce_scatter(x).numpy(), sum(parts[1:], parts[0]))
    truth = ag.constant([bool(rank), True])
    assert distribute.all_gather(truth).numpy().tolist() == [
        value for each in range(size) for value in (bool(each), True)
    ]
    assert distribute.all_reduce(float(rank)).shape == ()
    with_nan = ag.constant([np.nan if rank == size - 1 else 1.0, float(rank)])
    for reduction, other in (("max", size - 1), ("min", 0)):
        np.testing.assert_array_equal(
            distribute.all_reduce(with_nan, reduction).numpy(), [np.nan if size else 1.0, other]
        )
    columns = ag.transpose(ag.constant(np.arange(6.0).reshape(2, 3) + rank))
    np.testing.assert_array_equal(
        distribute.all_reduce(columns).numpy(), size * np.arange(6.0).reshape(2, 3).T + size * (size - 1) / 2
    )

    last, first = size - 1, 0
    group = distribute.new_group([last, first] if size > 1 else [0])
    if group is not None:
        assert group.rank == (0 if rank == last else 1)
        assert distribute.all_gather([rank], group).numpy().tolist() == ([last, first] if size > 1 else [0])
    else:
        assert rank not in (last, first)
    assert (distribute.local_rank(), distribute.local_size()) == (rank, size)
    distribute.barrier()
    print(f"rank {rank} of {size} has found all as wanted")
