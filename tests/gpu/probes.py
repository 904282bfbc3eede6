"""Probes: what a card does, one question each: ``python tests/gpu/probes.py NAME``. The last line is the answer."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
NVRTC_TESTS = HERE.parents[1] / "plugins" / "agog-cuda-cupy" / "tests" / "nvrtc"
sys.path[:0] = [str(HERE), str(NVRTC_TESTS)]


def versions() -> None:
    """What is installed, as CuPy and `agog doctor` say it."""
    import cupy

    from agog_cuda_cupy import cudnn

    cupy.show_config()
    print("cuDNN:", cudnn.unavailable() or "there")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(f"{properties['name'].decode()}, CuPy {cupy.__version__}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}")


def _compiled(work: tuple[str, dict[str, str]]) -> tuple[str, float, str]:
    """The seconds that a source takes, and NVRTC's complaint."""
    from agog_cuda_cupy import compiling
    from agog_cuda_cupy.cuda.modules import FOLDER

    source, definitions = work
    start = time.perf_counter()
    options = ("-std=c++17", f"--include-path={FOLDER}", *(f"-D{k}={v}" for k, v in definitions.items()))
    try:
        compiling.compile(code=(FOLDER / f"{source}.cu").read_text(), options=options)
    except Exception as error:
        return f"{source} {definitions}", time.perf_counter() - start, f"{type(error).__name__}: {error}"
    return f"{source} {definitions}", time.perf_counter() - start, ""


def sources() -> None:
    """Every source compiles and loads; all cores work at once."""
    from definitions import DEFINITIONS

    work = [(source, variant) for source, variants in DEFINITIONS.items() for variant in variants]
    start = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        results = [*pool.map(_compiled, work)]
    for name, seconds, complaint in sorted(results, key=lambda each: -each[1]):
        print(f"{seconds:6.2f} s  {name}  {complaint}")
    failed = [name for name, _, complaint in results if complaint]
    print(f"{len(results)} modules in {time.perf_counter() - start:.1f} s; failed: {failed or 'none'}")
    if failed:
        sys.exit(1)


def precision() -> None:
    """float32 products keep 1024.5, for which TF32 has no bit, unless the program allows it."""
    import agog as tf

    size, wanted = 256, np.float32(1024.5)
    ops: dict[str, Callable[[Any, Any], Any]] = {
        "matmul": tf.matmul,
        "batched matmul": lambda x, eye: tf.matmul(tf.stack([x, x]), tf.stack([eye, eye])),
        "einsum": lambda x, eye: tf.einsum("ij,jk->ik", x, eye),
        "convolution": lambda x, eye: tf.nn.conv2d(
            tf.reshape(x, [1, 16, 16, size]), tf.reshape(eye, [1, 1, size, size]), [1, 1, 1, 1], "VALID"
        ),
    }
    wrong = []
    for setting in ("float32", "tf32", "bf16"):
        tf.set_matmul_precision(setting)
        with tf.device("/gpu:0"):
            x, eye = tf.constant(np.full((size, size), wanted)), tf.constant(np.eye(size, dtype="float32"))
            for name, op in ops.items():
                found = np.unique(op(x, eye).numpy())
                print(f"{setting:8} {name:15} {found}")
                if setting == "float32" and not (found == wanted).all():
                    wrong.append(name)
            big = tf.constant(np.random.default_rng(0).standard_normal((8192, 8192)).astype("float32"))
            seconds = _seconds(lambda big=big: tf.matmul(big, big), 5)
            print(f"{setting:8} 8192 cubed: {seconds * 1e3:.2f} ms, {2 * 8192**3 / seconds / 1e12:.1f} TFLOP/s")
    print(f"float32 is rounded in: {wrong or 'nothing'}")
    if wrong:
        sys.exit(1)


def _seconds(work: Callable[[], Any], times: int, is_waited_for: bool = True) -> float:
    """Seconds for once; of the host alone, or until the GPU is done."""
    import cupy

    for _ in range(2):
        work()
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    if is_waited_for:
        cupy.cuda.Device().synchronize()
    return (time.perf_counter() - start) / times


def launches() -> None:
    """The host's time for a call of an op, beside CuPy's own and PyTorch's."""
    import cupy
    import torch_steps

    import agog as tf

    numbers = np.random.default_rng(0).random((32, 32), "float32")
    with tf.device("/gpu:0"):
        x = tf.constant(numbers)
        variable, rows = tf.Variable(numbers), tf.constant([1, 2])
        ours: dict[str, Callable[[], Any]] = {
            "x + x": lambda: x + x,
            "matmul": lambda: tf.matmul(x, x),
            "relu": lambda: tf.nn.relu(x),
            "sigmoid": lambda: tf.sigmoid(x),
            "softmax": lambda: tf.nn.softmax(x),
            "reduce_sum": lambda: tf.reduce_sum(x),
            "transpose": lambda: tf.transpose(x),
            "reshape": lambda: tf.reshape(x, [-1]),
            "random_normal": lambda: tf.random_normal([32, 32]),
            "gather": lambda: tf.gather(x, rows),
            "assign_add": lambda: variable.assign_add(x),
        }
        for name, work in ours.items():
            _tell_calls("agog", name, work)
    y = cupy.asarray(numbers)
    for name, work in {"x + x": lambda: y + y, "matmul": lambda: y @ y, "sum": lambda: y.sum()}.items():
        _tell_calls("CuPy", name, work)
    if torch_steps.available():
        import torch

        z = torch.asarray(numbers, device="cuda")
        theirs = {
            "x + x": lambda: z + z,
            "matmul": lambda: z @ z,
            "relu": lambda: torch.relu(z),
            "softmax": lambda: torch.softmax(z, -1),
            "sum": lambda: z.sum(),
        }
        for name, work in theirs.items():
            _tell_calls("torch", name, work)


def _tell_calls(library: str, name: str, work: Callable[[], Any]) -> None:
    """The host's time for a call, the least of bursts so short that the GPU keeps up, and the slowest calls of all."""
    least = min(_seconds(work, 50, is_waited_for=False) for _ in range(20))
    slowest = sorted((_seconds(work, 1, is_waited_for=False) for _ in range(300)), reverse=True)[:4]
    print(f"{library:5} {name:30} {least * 1e6:8.1f} us; slowest {' '.join(f'{each * 1e6:.0f}' for each in slowest)}")


def host_work() -> None:
    """Where the host's time for a call goes."""
    import cupy

    import agog as tf
    from agog_core.dispatch.kernels.resolution import run_chosen
    from agog_core.dispatch.op import registry
    from agog_cuda_cupy import launchers, value_checks

    numbers = np.random.default_rng(0).random((32, 32), "float32")
    with tf.device("/gpu:0"):
        x, rows = tf.constant(numbers), tf.constant([1, 2])
        table, words = x._table, value_checks.error_words(0)
        array, positions, null = x._array, rows._array, cupy.cuda.Stream.null
        unary = launchers.modules("gpu:0").kernel("elementwise", "unary", AGOG_NUMBER="float")
        out = cupy.empty_like(array)

        def scope() -> None:
            with cupy.cuda.Device(0), null:
                pass

        def word() -> None:
            words.take()
            words.watch(lambda number: None)

        calls: dict[str, Callable[[], Any]] = {
            "nothing": lambda: None,
            "a scope of device and stream": scope,
            "which device is set": cupy.cuda.runtime.getDevice,
            "which stream is set": lambda: cupy.cuda.get_current_stream().ptr,
            "memory for a result": lambda: cupy.empty((32, 32), "float32"),
            "memory, by its class": lambda: cupy.ndarray((32, 32), array.dtype),
            "pinned memory": lambda: __import__("cupyx").empty_pinned((64,), "uint64"),
            "an event": lambda: null.record(),
            "an error word": word,
            "a launch of ours": lambda: unary((8,), (128,), (array, out, array.size, np.int32(0), 0.0)),
            "CuPy's sum": lambda: cupy.add(array, array),
            "the kernel of add": lambda: run_chosen(registry["add"], table, (array, array), {}),
            "the kernel of relu6": lambda: run_chosen(registry["relu6"], table, (array,), {}),
            "the kernel of gather": lambda: run_chosen(registry["gather"], table, (array, positions), {"axis": 0}),
            "the op add": lambda: x + x,
            "the op relu6": lambda: tf.nn.relu6(x),
            "the op gather": lambda: tf.gather(x, rows),
            "the op transpose": lambda: tf.transpose(x),
            "a view with its axes turned": lambda: array.T,
            "a batch of 400 KB for the GPU": lambda: cupy.array(batch, order="C"),
            "the op constant of it": lambda: tf.constant(batch),
        }
        batch = np.ones((128, 784), "float32")
        for name, work in calls.items():
            _tell_calls("", name, work)


def denormals(*dtypes: str) -> None:
    """For which kernels numbers next to zero are zero, of some dtypes."""
    from agog_testing.conformance import collect

    kinds: Counter[str] = Counter()
    for dtype in dtypes or ("float32", "bfloat16", "float16", "float64"):
        for case in collect("cuda-cupy", dtypes=[dtype]):
            if case.check == "denormals" and case.test is not None:
                outcome = case.run()
                kinds[outcome.kind] += 1
                if outcome.kind not in ("passed", "not checked"):
                    print(f"{outcome.kind} {case.id}: {' '.join(outcome.text.split())}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.items()))


def long_sums() -> None:
    """How far the gradients of filters are off that sum over 100,003 places, by cuDNN and by products of matrices."""
    import cupy

    from agog_cuda_cupy import cudnn, launchers

    cudnn._MOST_TERMS = 1 << 40  # so that cuDNN declines nothing
    rng, length = np.random.default_rng(7), 100_003
    for outputs in (2, 8, 32, 64, 256):
        x, g = (rng.standard_normal((1, length, channels)).astype("float32") for channels in (2, outputs))
        wide = np.pad(x.astype("f8"), ((0, 0), (1, 1), (0, 0)))
        wanted = np.stack([wide[0, shift : shift + length].T @ g[0].astype("f8") for shift in range(3)])
        sliding = {"strides": (1,), "paddings": ((1, 1),), "dilations": (1,), "groups": 1}
        for module in (cudnn, launchers):
            run = partial(module.make("convolution_filter_grad", "float32", "gpu:0"), *map(cupy.asarray, (x, g)))
            work = partial(run, filter_shape=wanted.shape, **sliding)
            error, seconds = np.abs(work().get() - wanted).max(), _seconds(work, 20)
            print(
                f"{module.__name__.rpartition('.')[2]:10} {outputs:4} outputs: {error:.1e} off, {seconds * 1e6:.0f} us"
            )


def overlap() -> None:
    """How much of the time for copies is hidden behind what is computed, with `prefetch_to_device`."""
    import agog as tf
    from agog_core.dispatch.devices.lookup import get_device

    wait, rows = get_device("gpu:0").synchronize, np.ones((8, 2048, 4096), "float32")
    batches = tf.data.Dataset.from_tensor_slices(rows)
    ahead = batches.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
    with tf.device("/gpu:0"):
        weights = tf.constant(rows[0].T)

        def compute(x: Any) -> None:
            for _ in range(4):
                tf.matmul(x, weights)

        first = tf.constant(rows[0])
        runs: dict[str, Callable[[], Any]] = {
            "computed alone": lambda: [compute(first) for _ in rows],
            "copied ahead alone": lambda: [None for _ in ahead],
            "copied ahead and computed": lambda: [compute(x) for x in ahead],
            "copied and computed": lambda: [compute(x) for x in batches],
        }
        for name, run in runs.items():
            found = []
            for _ in range(4):
                wait()
                start = time.perf_counter()
                run()
                wait()
                found.append(time.perf_counter() - start)
            print(f"{name:30} {min(found) * 1e3:8.2f} ms for 8 batches of 32 MiB")


def profile() -> None:
    """Where the host's time of a training step goes."""
    import cProfile
    import pstats

    from speeds import TRAININGS
    from training_steps import Training

    for name, (network, batch) in TRAININGS.items():
        training = Training(network, batch, "/gpu:0")
        for _ in range(5):
            training.step()
        profiler = cProfile.Profile()
        profiler.runcall(lambda training=training: [training.step() for _ in range(50)])
        print(f"== {name}")
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(25)


PROBES: dict[str, Callable[..., None]] = {
    probe.__name__: probe
    for probe in (versions, sources, precision, launches, host_work, denormals, long_sums, overlap, profile)
}

if __name__ == "__main__":
    PROBES[sys.argv[1]](*sys.argv[2:])
