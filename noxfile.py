"""The project's sessions. `nox -l` lists them; `nox` alone runs tests, lint and types.

Every session that runs agog installs it from wheels, as a user would. Members come from the wheels built here and from
nowhere else; third-party packages come from the package index.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox
from packaging.requirements import Requirement
from packaging.version import Version

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_external_run = True
nox.options.sessions = ["tests", "lint", "types"]

ROOT = Path(__file__).parent.resolve()
MEMBERS = {
    file.parent.name: file.parent
    for group in ("packages", "plugins")
    for file in sorted(ROOT.glob(f"{group}/*/pyproject.toml"))
}
BACKEND_SUITES = (
    "agog-core",
    "agog-layers",
    "agog-optimizers",
    "agog-data",
    "agog-checkpoint",
    "agog-saved-model",
    "agog-summary",
    "agog-training",
    "agog-testing",
)
# Needs a newer NumPy than the others, which are tested with the lowest that they take.
NEWER = ("agog-cpu-llvm",)
OLDER = tuple(name for name in MEMBERS if name not in NEWER)
# A folder that, first on the path, gives a stand-in for CuPy, which computes with NumPy. What runs on it has run on no
# GPU, and has a name of its own.
ON_NUMPY = "cupy-on-numpy"
STANDIN = MEMBERS["agog-cuda-cupy"] / "tests" / "standin"
GPU_TESTS = ROOT / "tests" / "gpu"
DOCUMENTATION_TESTS = ROOT / "tests" / "documentation"
# The tests of agog-data whose volume the session `endurance` raises.
ENDURING = ("arrow", "compositions", "endurance", "idx", "images", "mutations", "numpy", "webdataset")
STRANGERS = {file.parent.name: file.parent for file in sorted(ROOT.glob("tests/matrix/strangers/*/pyproject.toml"))}
# Those with sessions of their own, since they download large libraries.
HEAVY = ("stranger-jax", "stranger-onednn", "stranger-torch")
# What `agog new-plugin` writes, with the options that ask for it, and the ops that prove it.
WRITTEN = {
    "written-kernel": ((), ()),
    "written-op": (("--op",), ()),
    "written-device": (("--device",), ("add", "matmul", "random_normal", "reduce_sum", "reshape")),
}
ORACLE_TESTS = ROOT / "tests" / "oracle"
REMOTE_TESTS = ROOT / "tests" / "remote"
TENSORBOARD_TESTS = ROOT / "tests" / "tensorboard"
NOTEBOOK_TESTS = ROOT / "tests" / "notebooks"
KERAS_TESTS = ROOT / "tests" / "keras"
TENSORFLOW_TESTS = ROOT / "tests" / "tensorflow"
ONNX_TESTS = ROOT / "tests" / "onnx"
SITE = ("sphinx==9.0.4", "myst-parser==5.2.0", "furo==2025.12.19", "matplotlib>=3.9")
NOTEBOOKS = ("nbclient==0.11.0", "ipykernel==7.4.0", "pytest>=8")
TENSORBOARD = ("tensorboard==2.21.0", "pillow>=11", "pytest>=8")
# Two processes share the tests of a suite; the one that has done its half takes of the other's. `-- -n 0` is for one.
# They are a matter of these sessions: the members' tests need not know of them, and `pytest` alone runs them too.
WORKERS = ("-n", "2", "--dist", "worksteal")
WORKERS_PACKAGE = "pytest-xdist>=3.6"

# A session in the environment of the session `whole`.
in_whole = nox.session(venv_backend="none", requires=["whole"])


@nox.session(requires=["wheels"])
def demo(session: nox.Session) -> None:
    """Train the network of the eager tutorials on real digits; arguments after -- go to examples/mnist.py."""
    install(session, "agog", "scikit-learn")
    session.run("python", "examples/mnist.py", *session.posargs)


@nox.session(requires=["wheels"])
@nox.parametrize("member", [nox.param(name, id=name) for name in [*MEMBERS, "integration"]])
def tests(session: nox.Session, member: str) -> None:
    """Test each member alone, from its wheel and only with what it declares; then what needs several of them."""
    if member == "integration":
        # It shares an environment with other sessions; a parameter alone cannot.
        session.notify("whole")
        session.notify("integration")
    else:
        install(session, f"{member}[test]", WORKERS_PACKAGE)
        pytest(session, MEMBERS[member] / "tests", *WORKERS)


@in_whole
def integration(session: nox.Session) -> None:
    """Test what needs several members; `tests` runs it too."""
    elsewhere = (
        DOCUMENTATION_TESTS,
        GPU_TESTS,
        KERAS_TESTS,
        TENSORFLOW_TESTS,
        NOTEBOOK_TESTS,
        ONNX_TESTS,
        ORACLE_TESTS,
        REMOTE_TESTS,
        TENSORBOARD_TESTS,
    )
    pytest(session, ROOT / "tests", *(f"--ignore={folder}" for folder in elsewhere), *WORKERS)


@nox.session(requires=["wheels"])
def matrix(session: nox.Session) -> None:
    """Run the suites and the kit on every backend that is present, to the end, and write a report of all.

    REQUIRE_BACKEND=cpu-numpy,fake makes an absence fail; AGOG_MATRIX names a folder for the report; AGOG_CONFORMANCE
    holds options of agog-conformance, such as "--op matmul".
    """
    install(session, *all_members(), WORKERS_PACKAGE)
    folder = Path(os.environ.get("AGOG_MATRIX") or session.cache_dir / "matrix").resolve()
    failed = errors_of(lambda: run_matrix(session, folder), lambda: run_on_numpy(session, folder / ON_NUMPY))
    if failed:
        session.error(f"Something has failed; see the reports in {folder}.")


def run_on_numpy(session: nox.Session, folder: Path) -> None:
    """Run the suites and the kit on the stand-in for CuPy, which takes minutes for what takes a GPU milliseconds."""
    run_matrix(session, folder, "cuda-cupy", "--name", ON_NUMPY, "--timeout", "1800", path=str(STANDIN))


def run_matrix(
    session: nox.Session, folder: Path, *options: str, path: str | None = None, workers: Sequence[str] = WORKERS
) -> None:
    """Run the suites and the kit on a plugin's backend, or on all, and write a report into a folder."""
    suites = [part for member in BACKEND_SUITES for part in ("--suite", str(MEMBERS[member] / "tests"))]
    of_pytest = shlex.join(["-c", str(ROOT / "pyproject.toml"), *workers, *session.posargs])
    chosen = shlex.split(os.environ.get("AGOG_CONFORMANCE", ""))
    command = ("agog-conformance", *options, "--matrix", str(folder), *suites, f"--pytest={of_pytest}", *chosen)
    environment = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": None}
    if path is not None:
        environment["REQUIRE_BACKEND"] = None
    session.run(*command, env=environment)


def errors_of(*programs: Callable[[], object]) -> list[str]:
    """Run programs, each also where the one before it has failed; returns what is said of those that have."""
    errors = []
    for program in programs:
        try:
            program()
        except nox.command.CommandFailed as error:
            errors.append(str(error))
    return errors


@nox.session(requires=["wheels"])
@nox.parametrize("stranger", [nox.param(name, id=name) for name in STRANGERS if name not in HEAVY])
def strangers(session: nox.Session, stranger: str) -> None:
    """Test plugins that others might have written, each built as a wheel and in an environment of its own."""
    test_stranger(session, stranger)


@nox.session(default=False, requires=["wheels"], venv_backend="virtualenv")
def strangers_torch(session: nox.Session) -> None:
    """Test a device on PyTorch's tensors; too heavy for each change."""
    # The extra index has the builds for the CPU, which pip prefers; out of its reach, the default index will do.
    session.install("torch==2.13.0", "--extra-index-url", "https://download.pytorch.org/whl/cpu")
    test_stranger(session, "stranger-torch")


@nox.session(default=False, requires=["wheels"])
def strangers_jax(session: nox.Session) -> None:
    """Test a device on JAX's arrays, which nobody can write; XLA compiles each op for each shape, which takes long."""
    session.install("jax==0.10.2")
    test_stranger(session, "stranger-jax")


@nox.session(default=False, requires=["wheels"])
def strangers_onednn(session: nox.Session) -> None:
    """Test a plugin that wraps a C library, oneDNN, whose wheel is for Linux on x86-64; it needs libgomp.so.1."""
    test_stranger(session, "stranger-onednn")


@nox.session(requires=["wheels"])
def new_plugins(session: nox.Session) -> None:
    """Build, install and prove what `agog new-plugin` writes, as it stands."""
    install(session, "agog", "agog-testing", "pytest>=8")
    with tempfile.TemporaryDirectory() as folder:
        for name, (kind, ops) in WRITTEN.items():
            with session.chdir(folder):
                session.run("agog", "new-plugin", name, *kind)
            install(session, str(Path(folder) / name))
            with session.chdir(folder):
                session.run("agog-conformance", name, *(part for op in ops for part in ("--op", op)))
                session.run("pytest", f"{name}/tests")


@nox.session(requires=["wheels"])
def gpu_without_gpu(session: nox.Session) -> None:
    """Run all that can be said of the device gpu without one: on the host's compiler, and on a stand-in for CuPy."""
    install(session, *all_members(), WORKERS_PACKAGE)
    folder = Path(os.environ.get("AGOG_MATRIX") or session.cache_dir / "gpu_without_gpu").resolve()
    failed = errors_of(
        lambda: pytest(session, MEMBERS["agog-cuda-cupy"] / "tests", *WORKERS),
        lambda: pytest(session, GPU_TESTS, *WORKERS, path=str(STANDIN)),
    )
    failed += errors_of(lambda: run_on_numpy(session, folder))
    if failed:
        session.error(f"Something has failed; see above, and the report for {ON_NUMPY}: {'; '.join(failed)}")


@nox.session(default=False, requires=["wheels"])
def gpu(session: nox.Session) -> None:
    """Run the tests of GPUs, the suites and the kit on a card, measure speeds, and write docs/gpu-report.md.

    AGOG_CUDA=13 is for CUDA 13, where 12 is the default; AGOG_TORCH names the torch to compare speeds with, such as
    "torch==2.13.0".
    """
    if not shutil.which("nvidia-smi"):
        session.skip("there is no GPU of NVIDIA's here, or no driver of it: nvidia-smi is not found")
    cuda = os.environ.get("AGOG_CUDA", "12")
    install(session, *all_members(), f"agog-cuda-cupy[cuda{cuda},cudnn{cuda}]")
    if torch := os.environ.get("AGOG_TORCH"):
        session.install(torch)
    folder = (session.cache_dir / "gpu").resolve()
    # Tests of a card's memory want it for themselves.
    failed = errors_of(
        lambda: run_matrix(session, folder, "cuda-cupy", workers=()),
        lambda: pytest(session, GPU_TESTS, f"--junitxml={folder / 'gpu.xml'}"),
        lambda: session.run("python", str(GPU_TESTS / "speeds.py"), str(folder / "speeds.json")),
    )
    session.run("python", str(GPU_TESTS / "gpu_report.py"), str(folder), str(ROOT / "docs" / "gpu-report.md"))
    if failed:
        session.error("Something has failed; see docs/gpu-report.md.")


@nox.session(requires=["wheels"])
def array_api(session: nox.Session) -> None:
    """Run the public tests of the array API standard; ARRAY_API_TESTS_DIR names a clone of them, with its submodule."""
    folder = os.environ.get("ARRAY_API_TESTS_DIR")
    if folder is None:
        session.skip(
            "ARRAY_API_TESTS_DIR names no clone of https://github.com/data-apis/array-api-tests; the tests are on no "
            "package index"
        )
    install(session, "agog")
    session.install("--requirement", str(Path(folder) / "requirements.txt"))
    # The tests compare by ==, which is identity for tensors until the standard's operators are enabled.
    module = "exec('import agog.array_api as xp; xp.enable_operators()')"
    expected = ROOT / "tests" / "array_api" / "expected_failures.txt"
    options = ["--max-examples=20", "--disable-deadline", "-p", "no:cacheprovider", f"--xfails-file={expected}"]
    with session.chdir(folder):
        session.run(
            *("pytest", "array_api_tests", *options, *session.posargs),
            env={"ARRAY_API_TESTS_MODULE": module, "PYTHONPATH": None},
        )


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, and who imports whom."""
    session.install("ruff==0.17.5", "import-linter==2.16")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": os.pathsep.join(map(str, source_folders()))})


@in_whole
def types(session: nox.Session) -> None:
    """Check the types of all members, strictly."""
    session.run(program(session, "mypy"), *map(str, source_folders()))


@nox.session(python="3.11", requires=["wheels"])
@nox.parametrize("members", [nox.param(names, id=names[0]) for names in (OLDER, NEWER)])
def lowest(session: nox.Session, members: Sequence[str]) -> None:
    """Test members with the lowest versions of third-party packages that they declare, on the lowest Python."""
    # Not in session.create_tmp(): it would move the tests' temporary folders into the repository.
    constraints = wheel_folder(session) / f"lowest-{members[0]}.txt"
    constraints.write_text("".join(f"{pin}\n" for pin in lowest_versions(members)))
    install(session, "--constraint", str(constraints), *(f"{name}[test]" for name in members), WORKERS_PACKAGE)
    pytest(session, *(MEMBERS[name] / "tests" for name in members), *WORKERS)


@in_whole
def docs(session: nox.Session) -> None:
    """Run the examples: those in docstrings, and the Python code in README.md and docs/."""
    session.notify("site")
    packages = [name.replace("-", "_") for name in MEMBERS]
    # By absolute paths, whatever is before them.
    need_cupy = [f"--ignore-glob=/*/agog_cuda_cupy/{name}.py" for name in ("factorization", "kernels")]
    pytest(session, "--doctest-modules", *need_cupy, "--pyargs", *packages, DOCUMENTATION_TESTS, *WORKERS)


@nox.session(default=False, requires=["wheels"])
def site(session: nox.Session) -> None:
    """Build the site out of docs/, with pictures that the examples draw; AGOG_SITE names a folder to keep it in."""
    install(session, "agog", "agog-distribute", "agog-export[onnx]", "agog-testing", "agog-fake", "scikit-learn", *SITE)
    folder = Path(os.environ.get("AGOG_SITE") or session.cache_dir / "site").resolve()
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html", str(ROOT / "docs"), str(folder))
    session.log(f"The site is in {folder / 'index.html'}.")


@nox.session(default=False, requires=["wheels"])
def keras(session: nox.Session) -> None:
    """Read files that Keras itself has written; compare applications and keras.ops with Keras's."""
    install(session, "agog", "agog-training[h5]", "pytest>=8", "keras==3.15.1", "jax")
    # Keras has one backend in each process.
    names = ("files", "models", "applications")
    pytest(session, *(KERAS_TESTS / f"test_keras_{name}.py" for name in names))
    pytest(session, KERAS_TESTS / "test_keras_ops.py")


@nox.session(default=False, requires=["wheels"])
def tensorflow(session: nox.Session) -> None:
    """Let TensorFlow read the checkpoints that agog writes, and agog those of TensorFlow."""
    install(session, "agog", "pytest>=8", "pytest-timeout", "tensorflow-cpu==2.21.0")
    pytest(session, TENSORFLOW_TESTS)


@nox.session(default=False, requires=["wheels"])
def tensorflow_models(session: nox.Session) -> None:
    """Let TensorFlow, Keras 2 and Keras 3 write checkpoints of models, and compare what agog computes of them."""
    install(session, "agog", "agog-testing", "pytest>=8", "tensorflow-cpu==2.21.0", "tf_keras==2.21.0", "keras==3.15.1")
    folder = ROOT / "tests" / "integration" / "tensorflow_models"
    files = Path(session.create_tmp()).resolve()
    session.run("python", str(folder / "write_models.py"), str(files))
    session.env["AGOG_TENSORFLOW_MODELS"] = str(files)
    pytest(session, folder / "test_integration_tensorflow_models.py")


@nox.session(default=False, requires=["wheels"])
def onnx(session: nox.Session) -> None:
    """Export every op's samples, and the models of the examples, and compare what onnxruntime computes of them."""
    install(session, "agog", "agog-export[test]", "agog-testing", "scikit-learn", WORKERS_PACKAGE)
    pytest(session, ONNX_TESTS, *WORKERS)


@nox.session(default=False)
def distributions(session: nox.Session) -> None:
    """Build sdists and wheels of all members, as they would be published, and check what an index reads of them."""
    session.install("build>=1.2", "hatchling>=1.27", "twine>=6")
    folder = Path(session.create_tmp()) / "dist"
    shutil.rmtree(folder, ignore_errors=True)

    def build(path: Path) -> None:
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(folder), str(path), silent=True)

    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(build, MEMBERS.values()))
    session.run("twine", "check", "--strict", *(str(file) for file in sorted(folder.iterdir())))


@in_whole
def tensorboard(session: nox.Session) -> None:
    """Read summaries of all kinds back with TensorBoard's own readers."""
    pytest(session, TENSORBOARD_TESTS)


@nox.session(default=False, requires=["wheels"])
def notebooks(session: nox.Session) -> None:
    """Run the notebooks of docs/, and one with displays of all kinds, which AGOG_NOTEBOOK names a file to keep in."""
    install(session, "agog", "scikit-learn", *NOTEBOOKS, WORKERS_PACKAGE)
    pytest(session, NOTEBOOK_TESTS, *WORKERS)


@nox.session(default=False, requires=["wheels"])
def screenshots(session: nox.Session) -> None:
    """Show summaries in a TensorBoard in headless Chromium; AGOG_SCREENSHOTS names a folder for the pictures."""
    if not (shutil.which("chromium") or shutil.which("google-chrome")) or not shutil.which("chromedriver"):
        session.skip("needs Chromium and its driver; on Debian: apt-get install chromium chromium-driver")
    folder = Path(os.environ.get("AGOG_SCREENSHOTS") or session.cache_dir / "screenshots").resolve()
    install(session, "agog", *TENSORBOARD, "selenium==4.51.0")
    session.env["AGOG_SCREENSHOTS"] = str(folder)
    pytest(session, TENSORBOARD_TESTS / "test_tensorboard_page.py")
    session.log(f"The pictures are in {folder}.")


@nox.session(default=False, requires=["wheels"], venv_backend="virtualenv")
def oracle(session: nox.Session) -> None:
    """Compare values and gradients of every op with PyTorch; too heavy for each change."""
    install(session, "agog", "agog-testing", WORKERS_PACKAGE)
    # The extra index has the builds for the CPU, which pip prefers; out of its reach, the default index will do.
    session.install("torch==2.13.0", "--extra-index-url", "https://download.pytorch.org/whl/cpu")
    pytest(session, ORACLE_TESTS, *WORKERS)


@nox.session(default=False, requires=["wheels"])
def nvrtc(session: nox.Session) -> None:
    """Compile every CUDA C source with NVRTC for several architectures; needs no GPU and no driver."""
    install(session, "agog-cuda-cupy")
    session.install("pytest>=8", WORKERS_PACKAGE)
    wheels = ("cuda-bindings==12.9.*", "nvidia-cuda-nvrtc-cu12==12.9.*")
    try:
        session.install(*wheels)
    except nox.command.CommandFailed:
        session.skip(f"the package index has not given {' and '.join(wheels)}, so that nothing was compiled")
    pytest(session, MEMBERS["agog-cuda-cupy"] / "tests" / "nvrtc", *WORKERS)


@nox.session(default=False, requires=["wheels"])
def cudnn(session: nox.Session) -> None:
    """Have cuDNN plan convolutions for several kinds of GPUs; needs no GPU and no driver, and 2 GB of packages."""
    install(session, "agog-cuda-cupy[cudnn12]")
    session.install("pytest>=8", WORKERS_PACKAGE)
    pytest(session, MEMBERS["agog-cuda-cupy"] / "tests" / "cudnn")


@nox.session(default=False, requires=["wheels"])
def slower(session: nox.Session) -> None:
    """Say how long traced programs take beside eager ones, with compilers and without; arguments after -- name some.

    A busy machine has its say too, so it is not part of CI.
    """
    install(session, *all_members())
    script = str(ROOT / "tests" / "speed" / "comparison.py")
    for how in ("", "--alone"):
        session.run("python", script, *session.posargs, *how.split())


@nox.session(default=False, requires=["wheels"])
def bench(session: nox.Session) -> None:
    """Time the programs of benchmarks/ beside PyTorch's and JAX's, in turn; arguments after -- name some of them."""
    install(session, "agog", "click", "threadpoolctl", "matplotlib>=3.9")
    session.install("torch==2.13.0", "jax==0.10.2", "--extra-index-url", "https://download.pytorch.org/whl/cpu")
    with session.chdir(ROOT):
        session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session(default=False, requires=["wheels"])
def endurance(session: nox.Session) -> None:
    """Run tests of faults at their full volume, such as a kill after every step; too long for each change."""
    install(session, *all_members(), WORKERS_PACKAGE)
    session.env |= {"AGOG_ENDURANCE": "1", "AGOG_KILLS": "500", "AGOG_FUZZ": "100000", "AGOG_RANDOM_GRAPHS": "1000"}
    session.env["AGOG_RANDOM_PROGRAMS"] = "2000"
    session.env["AGOG_INTERRUPTS"] = "1000"
    checkpoint = MEMBERS["agog-checkpoint"] / "tests"
    whole_trainings = ROOT / "tests" / "integration"
    pytest(
        session,
        *(
            whole_trainings / f"test_integration_{name}.py"
            for name in (
                *("interrupted_imports", "interrupts", "large_models", "mnist_example", "random_programs"),
                *("traced_interrupts", "traced_trainings"),
            )
        ),
        *(file for name in ENDURING for file in (MEMBERS["agog-data"] / "tests").rglob(f"test_data_{name}.py")),
        MEMBERS["agog-saved-model"] / "tests" / "test_saved_model_errors.py",
        *(checkpoint / f"test_checkpoint_{name}.py" for name in ("every_fault", "kills", "mutations", "random_graphs")),
        DOCUMENTATION_TESTS / "test_documentation_gallery.py",
        # A line for each test that has ended, and at the end what took longest: some take many minutes.
        *(*WORKERS, "-v", "--durations=20"),
    )


@nox.session(default=False, requires=["wheels"])
def kills(session: nox.Session) -> None:
    """Kill random ranks at random moments, 200 times or AGOG_RANK_KILLS, and compare the bits of the weights."""
    install(session, *all_members())
    session.env["AGOG_RANK_KILLS"] = os.environ.get("AGOG_RANK_KILLS", "200")
    pytest(session, ROOT / "tests" / "kills", "-s")


@nox.session(default=False, requires=["wheels"])
def ranks(session: nox.Session) -> None:
    """Take steps of every example on 1, 2 and 4 ranks, twice, beside those of one process with the whole batch."""
    install(session, *all_members())
    session.env["AGOG_RANKS"] = "all"
    strategies = ROOT / "tests" / "integration" / "test_integration_strategies.py"
    pytest(session, ROOT / "tests" / "ranks", strategies, "-s")


@nox.session(default=False, requires=["wheels"])
def damaged_checkpoints(session: nox.Session) -> None:
    """Damage checkpoints of TensorFlow, 3,000 of them or AGOG_DAMAGED_CHECKPOINTS: an error or the right values."""
    install(session, "agog-checkpoint[test,tensorflow]")
    session.env["AGOG_DAMAGED_CHECKPOINTS"] = os.environ.get("AGOG_DAMAGED_CHECKPOINTS", "3000")
    pytest(session, MEMBERS["agog-checkpoint"] / "tests/bundles/test_checkpoint_bundles_fuzz.py", "-s")


@nox.session(default=False, requires=["wheels"])
def remote(session: nox.Session) -> None:
    """Read and write files on a server like S3, on this machine, and say how long 5,000 records take from there."""
    install(session, "agog[remote]", "pytest>=8", "s3fs>=2025.2", "moto[server]>=5")
    pytest(session, REMOTE_TESTS)


@nox.session(default=False)
def wheels(session: nox.Session) -> None:
    """Build the wheels of all members, which the other sessions install."""
    folder = wheel_folder(session)
    shutil.rmtree(folder, ignore_errors=True)
    session.install("hatchling>=1.27")
    for path in MEMBERS.values():
        with session.chdir(path):
            session.run(
                "python", "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder), silent=True
            )
    lines = [
        f"{wheel.name.split('-')[0].replace('_', '-')} @ {wheel.as_uri()}\n" for wheel in sorted(folder.glob("*.whl"))
    ]
    (folder / "constraints.txt").write_text("".join(lines))


@nox.session(default=False, requires=["wheels"])
def whole(session: nox.Session) -> None:
    """Make the environment of all members, and of the tools that look at them, which several sessions share."""
    install(session, *all_members(), WORKERS_PACKAGE, "mypy==2.4.1", *TENSORBOARD)


def test_stranger(session: nox.Session, name: str) -> None:
    """Install a stranger's distribution beside agog, see that it imports no more than it may, and run its tests."""
    folder = STRANGERS[name]
    session.run("python", str(ROOT / "tests" / "matrix" / "strangers" / "imports.py"), str(folder / "src"))
    install(session, "agog", "agog-testing", "pytest>=8", WORKERS_PACKAGE, str(folder))
    pytest(session, folder, *WORKERS)


def program(session: nox.Session, name: str) -> str:
    """A program of the session's environment; for the sessions that have none of their own, of that of `whole`."""
    if session.venv_backend != "none":
        return name
    folder = session.cache_dir.resolve().parent / "whole" / ("Scripts" if os.name == "nt" else "bin")
    return str(folder / name)


def wheel_folder(session: nox.Session) -> Path:
    """The folder of the built wheels, and of the constraints that name them."""
    return session.cache_dir.resolve() / "wheels"


def install(session: nox.Session, *requirements: str) -> None:
    """Install members, each from its wheel whether asked for or a dependency, and third-party packages."""
    # Compiling all of numpy and scipy takes longer than most of our suites; what is imported is compiled then.
    environment = {"PIP_NO_COMPILE": "1", "UV_COMPILE_BYTECODE": "0"}
    session.install("--constraint", str(wheel_folder(session) / "constraints.txt"), *requirements, env=environment)


def pytest(session: nox.Session, *arguments: str | Path, path: str | None = None) -> None:
    """Run pytest from an empty folder, so that nothing but the installed wheels, and what a path adds, is imported."""
    # A selection such as `-- -k name` may leave a suite without tests; otherwise a suite without tests is an error.
    success_codes = [0, 5] if session.posargs else [0]
    environment = {
        "PYTHONPATH": path,
        # The tests' matrices are small, and threads that wait for each other's parts of them spin: where there are
        # few processors, one op's tests took 17 s instead of 1.1 s.
        "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1"),
        # The tests start hundreds of processes. Each would compile again what `install` did not.
        "PYTHONDONTWRITEBYTECODE": None,
    }
    command = (program(session, "pytest"), f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"))
    with tempfile.TemporaryDirectory() as folder, session.chdir(folder):
        session.run(*command, *map(str, arguments), *session.posargs, env=environment, success_codes=success_codes)


def all_members() -> list[str]:
    """The requirements that install every member with what its tests need."""
    return [f"{name}[test]" for name in MEMBERS]


def source_folders() -> list[Path]:
    """The folders that hold the members' import packages."""
    return [path / "src" for path in MEMBERS.values()]


def third_party_requirements(members: Iterable[str]) -> Iterator[Requirement]:
    """Every requirement that members declare, for themselves or for their tests, other than for another member."""
    for name in members:
        project = tomllib.loads((MEMBERS[name] / "pyproject.toml").read_text())["project"]
        for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
            requirement = Requirement(text)
            if requirement.name not in MEMBERS:
                yield requirement


def lowest_versions(members: Iterable[str]) -> Iterable[str]:
    """For each third-party package the lowest version that satisfies all those members, as a pin."""
    lowest: dict[str, Version] = {}
    for requirement in third_party_requirements(members):
        bounds = [Version(s.version) for s in requirement.specifier if s.operator == ">="]
        if not bounds:
            raise ValueError(f"{requirement}: declare its lowest version with >=.")
        lowest[requirement.name] = max([*bounds, lowest.get(requirement.name, Version("0"))])
    return [f"{name}=={version}" for name, version in sorted(lowest.items())]
