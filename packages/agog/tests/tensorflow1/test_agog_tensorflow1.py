"""The table of TensorFlow's modules leads to what agog has, and stand-ins keep agog as it is."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import agog as tf
from agog.commands.tensorflow1 import missing_names
from agog.commands.tensorflow1.finder import Finder, activate
from agog.commands.tensorflow1.module_table import PLACES, RENAMED, searched, sources_of
from agog_testing import says


@pytest.fixture(autouse=True)
def tensorflow() -> Iterator[Any]:
    """The stand-in, for one test."""
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "tensorflow"}
    activate()
    activate()  # a second time changes nothing
    yield import_module("tensorflow")
    (finder,) = [each for each in sys.meta_path if isinstance(each, Finder)]
    sys.meta_path.remove(finder)
    for name in [*sys.modules]:
        if name.partition(".")[0] == "tensorflow":
            del sys.modules[name]
    sys.modules.update(before)


def test_every_source_is_a_module_and_every_module_can_be_imported() -> None:
    for place, sources in PLACES.items():
        for source in sources:
            assert isinstance(import_module(source), ModuleType)
        module = import_module(f"tensorflow.{place}".rstrip("."))
        assert module.__name__ == f"tensorflow.{place}".rstrip(".")
        assert place == "" or sources_of(place.rpartition(".")[0]) is not None


def test_every_renamed_name_leads_somewhere() -> None:
    for place, target in RENAMED.items():
        module, _, name = target.partition(":")
        parent, _, attribute = f"tensorflow.{place}".rpartition(".")
        assert getattr(import_module(parent), attribute) is getattr(import_module(module), name)


@pytest.mark.parametrize(
    ("place", "name", "public"),
    [
        ("framework.ops", "convert_to_tensor", "convert_to_tensor"),
        ("keras.engine.network", "Network", "keras.Model"),
        ("keras.optimizer_v2.rmsprop", "RMSProp", "keras.optimizers.RMSprop"),
        ("keras.preprocessing.text", "Tokenizer", "keras.preprocessing.text.Tokenizer"),
        ("ops.critical_section_ops", "CriticalSection", "CriticalSection"),
        ("framework.dtypes", "half", "float16"),
        ("framework.constant_op", "constant", "constant"),
        ("framework.errors_impl", "NotFoundError", "errors.NotFoundError"),
        ("framework.test_util", "TensorFlowTestCase", "test.TestCase"),
        ("ops.math_ops", "reduce_sum", "reduce_sum"),
        ("ops.math_ops", "is_nan", "is_nan"),
        ("ops.array_ops", "matrix_transpose", "linalg.transpose"),
        ("ops.gen_math_ops", "mat_mul", "matmul"),
        ("ops.nn_ops", "softmax", "nn.softmax"),
        ("ops.nn", "relu", "nn.relu"),
        ("ops.rnn_cell", "LSTMCell", "nn.rnn_cell.LSTMCell"),
        ("ops.resource_variable_ops", "ResourceVariable", "Variable"),
        ("ops.variable_scope", "get_variable", "get_variable"),
        ("ops.variable_scope", "EagerVariableStore", "eager.EagerVariableStore"),
        ("ops.losses.losses", "huber_loss", "losses.huber_loss"),
        ("ops.lookup_ops", "index_table_from_tensor", "contrib.lookup.index_table_from_tensor"),
        ("ops.summary_ops_v2", "scalar", "contrib.summary.scalar"),
        ("eager.context", "num_gpus", "eager.num_gpus"),
        ("eager.backprop", "GradientTape", "GradientTape"),
        ("eager.backprop", "implicit_grad", "eager.implicit_gradients"),
        ("eager.function", "defun", "eager.defun"),
        ("eager.test", "TestCase", "test.TestCase"),
        ("data", "Dataset", "data.Dataset"),
        ("data.ops.dataset_ops", "Dataset", "data.Dataset"),
        ("data.ops.readers", "TFRecordDataset", "data.TFRecordDataset"),
        ("keras.layers.core", "Dense", "keras.layers.Dense"),
        ("keras.engine.training", "Model", "keras.Model"),
        ("layers.core", "Dense", "layers.Dense"),
        ("training.adam", "AdamOptimizer", "train.AdamOptimizer"),
        ("training.checkpointable.util", "Checkpoint", "train.Checkpoint"),
        ("platform.test", "main", "test.main"),
        ("platform.app", "run", "app.run"),
        ("platform.gfile", "Exists", "gfile.Exists"),
        ("lib.io.file_io", "file_exists", "gfile.Exists"),
    ],
)
def test_names_of_modules_inside_of_tensorflow(place: str, name: str, public: str) -> None:
    expected: Any = tf
    for part in public.split("."):
        expected = getattr(expected, part)
    module = import_module(f"tensorflow.python.{place}")
    assert getattr(module, name) is expected
    assert getattr(module, name) is expected  # also the second time, when the stand-in has it
    package, _, leaf = f"tensorflow.python.{place}".rpartition(".")
    assert getattr(import_module(package), leaf) is module


def test_public_modules_are_found_by_both_ways(tensorflow: Any) -> None:
    for name in (
        "keras",
        "keras.layers",
        "keras.datasets",
        "contrib",
        "contrib.eager",
        "contrib.learn",
        "contrib.lookup",
    ):
        module = import_module(f"tensorflow.{name}")
        found = tensorflow
        for part in name.split("."):
            found = getattr(found, part)
        assert found is module
    assert import_module("tensorflow.contrib.eager").Variable is tf.Variable
    inside = import_module("tensorflow.contrib.learn.python.learn.datasets.mnist")
    assert inside.read_data_sets is tf.contrib.learn.datasets.mnist.read_data_sets
    assert import_module("tensorflow.contrib.learn.python.learn.datasets").base.Dataset is (
        tf.contrib.learn.datasets.base.Dataset
    )
    assert import_module("tensorflow.contrib.learn.python.learn").datasets.load_iris().data.shape == (150, 4)
    assert import_module("tensorflow.keras.datasets.mnist").load_data is tf.keras.datasets.mnist.load_data
    assert (tensorflow.__version__, tensorflow.VERSION) == ("1.12.0", "1.12.0")


def test_what_a_program_sets_stays_in_the_stand_in(tensorflow: Any) -> None:
    tensorflow.matmul = None
    tensorflow.mine = 3
    assert tf.matmul is not None
    assert not hasattr(tf, "mine")
    assert not hasattr(tf, "python")
    assert tensorflow.keras is not tf.keras


def test_stand_ins_list_their_names(tensorflow: Any) -> None:
    assert {"matmul", "keras", "VERSION"} <= set(dir(tensorflow))
    namespace: dict[str, Any] = {}
    exec("from tensorflow.nn import *", namespace)
    assert namespace["relu"] is tf.nn.relu
    assert not [name for name in import_module("tensorflow.nn").__all__ if name.startswith("_")]


DECODING = "not in agog; use tf.keras.layers.LSTM and GRU, and a loop of your own for decoding"


def test_what_is_not_there_is_missed_when_it_is_asked_for(tensorflow: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with missing_names.reported():
        assert not hasattr(tensorflow.contrib, "cudnn_rnn")
        assert not hasattr(tensorflow.python.framework, "no_such_module")
        with says(AttributeError, f"tensorflow.contrib.cudnn_rnn: {DECODING}"):
            tensorflow.contrib.cudnn_rnn  # noqa: B018  # what is tested
        name = "tensorflow.contrib.cudnn_rnn.python.layers"
        with says(ImportError, f"cannot import name 'CudnnLSTM' from '{name}': {name}.CudnnLSTM: {DECODING}"):
            exec("from tensorflow.contrib.cudnn_rnn.python.layers import CudnnLSTM", {})
        with pytest.raises(ImportError):
            exec("from tensorflow.python.ops.math_ops import no_such_op", {})
        with pytest.raises(AttributeError):
            tensorflow._private  # noqa: B018  # private names are no news
    assert capsys.readouterr().err.splitlines() == [
        "agog run: the program asked for 4 names that agog has not:",
        f"     3  tensorflow.contrib.cudnn_rnn: {DECODING}",
        f"     1  tensorflow.contrib.cudnn_rnn.python.layers.CudnnLSTM: {DECODING}",
        "     1  tensorflow.python.framework.no_such_module: agog has nothing of this module.",
        "     1  tensorflow.python.ops.math_ops.no_such_op: module 'agog' has no attribute 'no_such_op'",
    ]


@pytest.mark.parametrize(
    ("statement", "module", "text"),
    [
        (
            "from tensorflow.contrib.cudnn_rnn.python.layers import cudnn_rnn as it",
            "tensorflow.contrib.cudnn_rnn.python.layers.cudnn_rnn",
            DECODING,
        ),
        (
            "import tensorflow.python.framework.graph_util as it",
            "tensorflow.python.framework.graph_util",
            "not in agog; leave it out: there is no graph, and ops run as they are called",
        ),
        (
            "from tensorflow.python.framework import softplus as it",
            "tensorflow.python.framework.softplus",
            "agog has this as tf.nn.softplus",
        ),
        (
            "from tensorflow.core.framework import function_pb2 as it",
            "tensorflow.core.framework.function_pb2",
            "agog has nothing of this module.",
        ),
    ],
)
def test_modules_that_agog_has_nothing_of_are_missed_when_they_are_used(
    statement: str, module: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    with missing_names.reported():
        exec(statement, names)
    it = names["it"]
    first = module if "cudnn" not in module else "tensorflow.contrib.cudnn_rnn"
    report = "agog run: the program asked for 1 names that agog has not:"
    assert capsys.readouterr().err.splitlines() == [report, f"     1  {first}: {text}"]
    parent, _, leaf = module.rpartition(".")
    assert not hasattr(import_module(parent), leaf)
    assert not hasattr(it, "no_such_name")
    for use in (lambda: it(1), lambda: exec("class Derived(it): pass", names)):
        with missing_names.reported(), says(NotImplementedError, f"{module}: {text}"):
            use()
        assert capsys.readouterr().err.splitlines() == [report, f"     1  {module}: {text}"]


def test_what_tensorflow_has_inside_works() -> None:
    context = import_module("tensorflow.python.eager.context")
    with context.eager_mode(), context.execution_mode(context.ASYNC):
        assert context.context().get_execution_mode() == context.ASYNC
        context.context().execution_mode = context.SYNC
        assert context.context().execution_mode == context.SYNC
    assert context.executing_eagerly() is context.context().executing_eagerly() is True
    assert (context.context().num_gpus(), context.context().devices()) == (tf.eager.num_gpus(), tf.eager.list_devices())
    with says(
        RuntimeError, "graph_mode: agog has no graphs, and ops run as they are called; leave the `with` statement out."
    ):
        context.graph_mode()
    testing = import_module("tensorflow.python.keras.testing_utils")
    (x, y), (more, _) = testing.get_test_data(10, 5, (3,), 2, random_seed=1)
    assert (x.shape, y.shape, more.shape) == ((10, 3), (10,), (5, 3))
    assert testing.get_small_functional_mlp(3, 1, 2)(tf.ones([4, 2])).shape == [4, 1]
    assert testing.get_small_sequential_mlp(3, 2)(tf.ones([4, 2])).shape == [4, 2]
    assert testing.layer_test(tf.keras.layers.Dense, {"units": 3}, input_shape=(2, 4)).shape == (2, 3)
    wrong = tf.keras.layers.Dense
    with pytest.raises(AssertionError):
        testing.layer_test(wrong, {"units": 1}, (2, 4), expected_output=[[9.0], [9.0]])


def test_messages_are_those_of_the_writer_of_summaries(tmp_path: Any) -> None:
    event_pb2 = import_module("tensorflow.core.util.event_pb2")
    with (
        tf.contrib.summary.create_file_writer(str(tmp_path)).as_default(),
        tf.contrib.summary.always_record_summaries(),
    ):
        tf.contrib.summary.scalar("loss", 2.5, step=3)
    (file,) = tmp_path.iterdir()
    events = [event_pb2.Event.FromString(record) for record in tf.python_io.tf_record_iterator(str(file))]
    assert [(event.step, event.summary.value[0].tag) for event in events[1:]] == [(3, "loss")]
    assert tf.float32.as_datatype_enum == import_module("tensorflow.core.framework.types_pb2").DT_FLOAT
    assert tf.uint64.as_datatype_enum == import_module("tensorflow.core.framework.types_pb2").DT_UINT64


def test_advice_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def advise(name: str) -> Any:
        raise AttributeError(f"tf.contrib.{name}: not in agog; use tf.keras.layers")

    monkeypatch.setattr(tf.contrib, "__getattr__", advise, raising=False)
    with says(
        ModuleNotFoundError,
        "No module named 'tensorflow.contrib.slim': tf.contrib.slim: not in agog; use tf.keras.layers",
    ):
        import_module("tensorflow.contrib.slim")
    with says(AttributeError, "tf.contrib.slim: not in agog; use tf.keras.layers"):
        searched(("agog.nn", "agog.contrib"), "slim")


def test_names_that_are_missing_leave_no_garbage(tensorflow: Any) -> None:
    class Held:
        pass

    def ask() -> weakref.ref[Held]:
        held = Held()
        assert not hasattr(tensorflow, "no_such_name")
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert ask()() is None
    finally:
        gc.enable()


def test_a_name_of_the_second_module_leaves_no_circle_behind() -> None:
    class Marker:
        """Something that a caller holds."""

    def take() -> weakref.ref[Marker]:
        marker = Marker()
        assert searched(("agog.math", "agog_core"), "GradientTape") is tf.GradientTape
        return weakref.ref(marker)

    gc.disable()
    try:
        assert take()() is None
    finally:
        gc.enable()
