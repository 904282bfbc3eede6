"""Module table: the modules of TensorFlow 1.12's public names, and their places in agog."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from agog_compat.advice import advice_on, said

_INTERNALS = "agog.commands.tensorflow1.internals"
# The modules of TensorFlow, without its own name, by the modules of agog that have their names, in the order of search.
_BY_SOURCES = {
    "": """
        contrib.eager.python.examples
        python.autograph python.debug python.distribute python.estimator python.grappler
        python.profiler python.saved_model python.tools python.user_ops
        contrib.checkpoint.python contrib.eager.python contrib.framework.python contrib.framework.python.ops
        contrib.layers.python contrib.layers.python.layers
        contrib.cudnn_rnn contrib.cudnn_rnn.python contrib.cudnn_rnn.python.layers contrib.cudnn_rnn.python.ops
        contrib.learn.python contrib.mixed_precision.python
        contrib.opt.python contrib.opt.python.training contrib.rnn.python contrib.rnn.python.ops
        contrib.summary.python contrib.training.python contrib.training.python.training
        core core.example core.framework core.lib core.protobuf core.util
        python.client python.compat python.data.experimental.ops python.data.ops python.data.util python.eager
        python.framework python.keras.engine
        python.lib python.lib.io python.ops python.ops.distributions python.ops.linalg python.ops.losses
        python.ops.signal
        python.platform python.summary python.summary.writer python.training python.training.checkpointable
        python.util python.util.protobuf
    """,
    "agog": """
        compat.v2 core.protobuf.config_pb2 python.client.session
        python.eager.backprop python.framework.constant_op python.framework.device python.framework.indexed_slices
        python.framework.ops python.framework.sparse_tensor
        python.framework.tensor_spec
        python.ops.custom_gradient python.ops.data_flow_ops python.ops.functional_ops
        python.ops.gen_data_flow_ops python.ops.gen_dataset_ops python.ops.gen_script_ops python.ops.gen_state_ops
        python.ops.gen_functional_ops python.ops.gen_sparse_ops python.ops.gen_list_ops
        python.ops.gradients python.ops.gradients_impl python.ops.histogram_ops
        python.ops.list_ops
        python.ops.logging_ops python.ops.gen_logging_ops python.ops.numerics python.ops.partitioned_variables
        python.ops.script_ops python.ops.state_ops python.ops.template
        python.ops.tensor_array_ops python.ops.variables
    """,
    f"agog {_INTERNALS}.resource_handles": "python.ops.gen_resource_variable_ops python.ops.resource_variable_ops",
    "agog agog.keras.initializers": "python.ops.init_ops",
    "agog agog.eager": "python.ops.variable_scope",
    "agog agog.bitwise": "python.ops.bitwise_ops python.ops.gen_bitwise_ops",
    "agog agog.debugging": "python.ops.check_ops python.ops.control_flow_ops python.ops.gen_control_flow_ops",
    "agog agog.image": "python.ops.gen_image_ops python.ops.image_ops python.ops.image_ops_impl",
    "agog agog.io": """
        python.lib.io.python_io python.ops.gen_io_ops python.ops.gen_parsing_ops
        python.ops.io_ops python.ops.parsing_ops
    """,
    "agog agog.linalg agog.math agog.manip": """
        python.ops.clip_ops python.ops.confusion_matrix python.ops.gen_linalg_ops python.ops.gen_manip_ops
        python.ops.gen_math_ops python.ops.linalg.linalg python.ops.linalg.linalg_impl python.ops.linalg_ops
        python.ops.manip_ops python.ops.math_ops python.ops.special_math_ops
    """,
    "agog agog.nn agog.linalg agog.manip": "python.ops.array_ops python.ops.gen_array_ops python.ops.sort_ops",
    "agog agog.random": "python.ops.gen_random_ops python.ops.random_ops",
    "agog agog.sets": "python.ops.sets python.ops.sets_impl",
    "agog agog.sparse": "python.ops.sparse_ops",
    "agog agog.spectral": "python.ops.spectral_ops python.ops.gen_spectral_ops",
    "agog agog.strings": "python.ops.gen_string_ops python.ops.string_ops",
    "agog.app": "python.platform.app",
    "agog.compat": "python.util.compat",
    "agog.contrib.checkpoint": """
        contrib.checkpoint.python.containers contrib.checkpoint.python.python_state
        contrib.checkpoint.python.split_dependency contrib.checkpoint.python.visualize
        python.training.checkpointable.data_structures
    """,
    f"agog.contrib.checkpoint agog.train agog.eager {_INTERNALS}.checkpointable_util": """
        python.training.checkpointable.base python.training.checkpointable.tracking python.training.checkpointable.util
    """,
    "agog.contrib.data": "contrib.data.python contrib.data.python.ops",
    "agog.contrib.framework": """
        contrib.framework.python.ops.critical_section_ops contrib.framework.python.ops.sort_ops
        python.ops.critical_section_ops
    """,
    "agog.contrib.rate": "contrib.rate.rate",
    "agog.contrib.lookup agog": "contrib.lookup contrib.lookup.lookup_ops python.ops.lookup_ops",
    "agog.contrib.layers": """
        contrib.layers.python.layers.initializers contrib.layers.python.layers.layers
        contrib.layers.python.layers.regularizers
    """,
    "agog.contrib.learn": "contrib.learn.python.learn",
    "agog.contrib.learn.datasets": "contrib.learn.python.learn.datasets",
    "agog.contrib.learn.datasets.base": "contrib.learn.python.learn.datasets.base",
    "agog.contrib.learn.datasets.mnist": "contrib.learn.python.learn.datasets.mnist",
    "agog.contrib.mixed_precision": """
        contrib.mixed_precision contrib.mixed_precision.python.loss_scale_manager
        contrib.mixed_precision.python.loss_scale_optimizer
    """,
    "agog.contrib.opt": """
        contrib.opt.python.training.adamax contrib.opt.python.training.lazy_adam_optimizer
        contrib.opt.python.training.moving_average_optimizer contrib.opt.python.training.nadam_optimizer
        contrib.opt.python.training.weight_decay_optimizers
    """,
    "agog.contrib.rnn": """
        contrib.rnn.python.ops.core_rnn_cell contrib.rnn.python.ops.rnn contrib.rnn.python.ops.rnn_cell
    """,
    "agog.contrib.signal": "python.ops.signal.signal",
    "agog.contrib.summary": "python.ops.summary_ops_v2 contrib.summary.summary",
    "agog.contrib.training": "contrib.training.python.training.hparam",
    "agog.data": "python.data python.data.ops.dataset_ops python.data.ops.iterator_ops python.data.ops.readers",
    "agog.data.experimental agog.contrib.data": """
        python.data.experimental python.data.ops.optional_ops
        python.data.experimental.ops.batching python.data.experimental.ops.counter
        python.data.experimental.ops.enumerate_ops python.data.experimental.ops.error_ops
        python.data.experimental.ops.get_single_element python.data.experimental.ops.grouping
        python.data.experimental.ops.interleave_ops python.data.experimental.ops.iterator_ops
        python.data.experimental.ops.parsing_ops python.data.experimental.ops.prefetching_ops
        python.data.experimental.ops.random_ops python.data.experimental.ops.readers
        python.data.experimental.ops.resampling python.data.experimental.ops.scan_ops
        python.data.experimental.ops.shuffle_ops python.data.experimental.ops.unique
        python.data.experimental.ops.writers
    """,
    f"{_INTERNALS}.eager_tape": "python.eager.tape",
    "agog_core.random agog": "python.framework.random_seed",
    f"{_INTERNALS}.tensor_shape agog": "python.framework.tensor_shape",
    f"{_INTERNALS}.tensor_util agog": "python.framework.tensor_util",
    f"{_INTERNALS}.keras_testing_utils": "python.keras.testing_utils",
    "agog.dtypes agog": "python.framework.dtypes",
    "agog.eager": """
        contrib.eager contrib.eager.python.datasets contrib.eager.python.evaluator contrib.eager.python.network
        contrib.eager.python.saver contrib.eager.python.tfe
        python.eager.core python.eager.execution_callbacks python.eager.function
    """,
    "agog_layers.metrics": "contrib.eager.python.metrics contrib.eager.python.metrics_impl",
    "agog_compat.distributions agog_compat.distributions.softplus": """
        python.ops.distributions.bernoulli python.ops.distributions.beta python.ops.distributions.categorical
        python.ops.distributions.dirichlet python.ops.distributions.distribution
        python.ops.distributions.distributions python.ops.distributions.exponential python.ops.distributions.gamma
        python.ops.distributions.kullback_leibler python.ops.distributions.laplace
        python.ops.distributions.multinomial python.ops.distributions.normal python.ops.distributions.student_t
        python.ops.distributions.uniform
    """,
    "agog.errors agog": "python.framework.errors python.framework.errors_impl",
    "agog.flags": "python.platform.flags",
    "agog.feature_column agog_keras.feature_columns": """
        python.feature_column python.feature_column.feature_column python.feature_column.feature_column_lib
        python.feature_column.feature_column_v2
    """,
    "agog.gfile": "python.platform.gfile",
    "agog_compat.gfile agog.gfile": "python.lib.io.file_io",
    "agog.keras": "keras python.keras",
    "agog.keras.activations": "python.keras.activations",
    "agog.keras.callbacks": "python.keras.callbacks",
    "agog.keras.constraints": "python.keras.constraints",
    "agog.keras.initializers": "python.keras.initializers",
    "agog.keras.layers agog.keras": """
        keras.layers.experimental keras.layers.experimental.preprocessing
        python.keras.engine.base_layer python.keras.engine.input_layer python.keras.engine.topology python.keras.layers
        python.keras.layers.advanced_activations python.keras.layers.convolutional
        python.keras.layers.convolutional_recurrent python.keras.layers.core python.keras.layers.cudnn_recurrent
        python.keras.layers.embeddings python.keras.layers.local python.keras.layers.merge python.keras.layers.noise
        python.keras.layers.normalization python.keras.layers.pooling python.keras.layers.recurrent
        python.keras.layers.serialization python.keras.layers.wrappers
    """,
    "agog.keras.losses": "python.keras.losses",
    "agog.keras.metrics": "python.keras.metrics",
    "agog.keras.mixed_precision": "keras.mixed_precision.experimental",
    "agog.keras.models agog.keras": """
        python.keras.engine.saving python.keras.engine.sequential python.keras.engine.training python.keras.models
    """,
    "agog.keras.optimizers": "python.keras.optimizers",
    "agog.keras.optimizers agog.train": """
        python.keras.optimizer_v2 python.keras.optimizer_v2.adadelta python.keras.optimizer_v2.adagrad
        python.keras.optimizer_v2.adam python.keras.optimizer_v2.optimizer_v2 python.keras.optimizer_v2.rmsprop
        python.keras.optimizer_v2.sgd
    """,
    "agog.keras.preprocessing": "python.keras.preprocessing",
    "agog.keras.preprocessing.image": "python.keras.preprocessing.image",
    "agog.keras.preprocessing.sequence": "python.keras.preprocessing.sequence",
    "agog.keras.preprocessing.text": "python.keras.preprocessing.text",
    "agog.keras.regularizers": "python.keras.regularizers",
    "agog.keras.utils": """
        python.keras.utils python.keras.utils.data_utils python.keras.utils.generic_utils
        python.keras.utils.io_utils python.keras.utils.layer_utils python.keras.utils.np_utils
        python.keras.utils.vis_utils
    """,
    "agog.layers": """
        python.layers python.layers.base python.layers.convolutional python.layers.core python.layers.layers
        python.layers.normalization python.layers.pooling
    """,
    "agog.logging": "python.platform.tf_logging",
    "agog.losses": "python.ops.losses.losses python.ops.losses.losses_impl python.ops.losses.util",
    "agog.metrics": "python.ops.metrics python.ops.metrics_impl",
    "agog.nn agog": """
        python.ops.candidate_sampling_ops python.ops.ctc_ops python.ops.embedding_ops python.ops.gen_ctc_ops
        python.ops.gen_nn_ops python.ops.nn python.ops.nn_impl python.ops.nn_ops python.ops.rnn
    """,
    "agog_layers.recurrent.rnn_cell": "python.ops.rnn_cell python.ops.rnn_cell_impl",
    "agog.python_io": "python.lib.io.tf_record",
    "agog.summary agog.contrib.summary": "python.summary.summary python.summary.writer.writer",
    "agog.test": "python.ops.gradient_checker",
    f"agog.test {_INTERNALS}.test_util": """
        python.eager.test python.framework.test_util python.platform.googletest python.platform.test
    """,
    f"{_INTERNALS}.eager_context agog.eager agog": "python.eager.context",
    "agog.train agog": """
        contrib.optimizer_v2 contrib.optimizer_v2.adadelta contrib.optimizer_v2.adagrad contrib.optimizer_v2.adam
        contrib.optimizer_v2.gradient_descent contrib.optimizer_v2.momentum contrib.optimizer_v2.optimizer_v2
        contrib.optimizer_v2.rmsprop
        core.example.example_pb2 core.example.feature_pb2
        python.training.adadelta python.training.adagrad python.training.adagrad_da python.training.adam
        python.training.checkpoint_management python.training.checkpoint_utils python.training.ftrl
        python.training.gradient_descent python.training.input python.training.learning_rate_decay
        python.training.learning_rate_decay_v2 python.training.momentum python.training.moving_averages
        python.training.optimizer python.training.proximal_adagrad python.training.proximal_gradient_descent
        python.training.queue_runner_impl python.training.rmsprop python.training.saver
        python.training.sync_replicas_optimizer python.training.training python.training.training_util
    """,
    f"{_INTERNALS}.versions": "python.framework.versions",
    "agog.nest agog_core.nest": "python.data.util.nest",
    "agog_compat.nest": "python.util.nest",
    "inspect": "python.util.tf_inspect",
}

# Modules that programs import, and of which agog has nothing.
_EMPTY = "python.keras.utils.tf_utils python.pywrap_tensorflow"
# Where a name of a module that agog has not may be: for advice.
_HOMES = "agog agog.nn agog.keras.layers agog.keras agog.train agog.math agog.linalg agog.contrib.rnn agog.eager"

# The modules of agog that are searched for the names of each module of TensorFlow.
PLACES = {place: tuple(sources.split()) for sources, places in _BY_SOURCES.items() for place in places.split()}
PLACES |= dict.fromkeys(_EMPTY.split(), ())
PLACES["python.framework.ops.context"] = PLACES["python.eager.context"]
PLACES[""] = PLACES["python"] = ("agog", f"{_INTERNALS}.versions")

# Messages of TensorFlow that the writer of summaries has.
_MESSAGES = "attr_value graph node_def summary tensor tensor_shape versions"
PLACES |= {f"core.framework.{name}_pb2": (f"tensorboardX.proto.{name}_pb2",) for name in _MESSAGES.split()}
PLACES["core.framework.types_pb2"] = (
    "tensorboardX.proto.types_pb2",
    f"{_INTERNALS}.type_numbers",
)
PLACES["core.util.event_pb2"] = ("tensorboardX.proto.event_pb2",)

# Names that are others in agog, or elsewhere.
RENAMED = {
    "__version__": f"{_INTERNALS}.versions:__version__",
    "keras.__version__": f"{_INTERNALS}.versions:KERAS_VERSION",
    "keras.mixed_precision.experimental.global_policy": "agog.keras.mixed_precision:global_policy",
    "keras.mixed_precision.experimental.set_policy": "agog.keras.mixed_precision:set_global_policy",
    "python.client.device_lib.list_local_devices": "agog.config:list_logical_devices",
    "python.eager.backprop.implicit_grad": "agog.eager:implicit_gradients",
    "python.eager.backprop.implicit_val_and_grad": "agog.eager:implicit_value_and_gradients",
    "python.eager.backprop.gradients_function": "agog.eager:gradients_function",
    "python.eager.backprop.val_and_grad_function": "agog.eager:value_and_gradients_function",
    "python.platform.googletest.GetTempDir": "agog.test:get_temp_dir",
    "contrib.optimizer_v2.optimizer_v2.OptimizerV2": "agog.train:Optimizer",
    "python.eager.core._NotOkStatusException": f"{_INTERNALS}.eager_status:NotOkStatusException",
    "python.eager.core._status_to_exception": f"{_INTERNALS}.eager_status:status_to_exception",
    "python.eager.def_function.def_function": "agog:function",
    "python.eager.def_function.function": "agog:function",
    "python.feature_column.feature_column.InputLayer": "agog_keras.feature_columns:DenseFeatures",
    "python.framework.ops.EagerTensor": f"{_INTERNALS}.eager_tensor:EagerTensor",
    "python.keras.engine.base_layer.DeferredTensor": "agog_layers.layer.symbolic:Symbolic",
    "python.keras.engine.network.Network": "agog.keras:Model",
    "python.keras.optimizer_v2.optimizer_v2.OptimizerV2": "agog.keras:Optimizer",
    "python.keras.optimizer_v2.rmsprop.RMSProp": "agog.keras.optimizers:RMSprop",
    "python.framework.tensor_shape.as_shape": "agog:TensorShape",
    "python.training.checkpointable.base.CheckpointableBase": f"{_INTERNALS}.checkpointable_util:CheckpointableBase",
    "python.ops.resource_variable_ops.ResourceVariable": "agog:Variable",
    "python.ops.variables.VariableV1": "agog:Variable",
    "python.ops.variables.RefVariable": "agog:Variable",
    "python.ops.script_ops.eager_py_func": "agog.eager:py_func",
    "python.ops.template.make_template_internal": "agog:make_template",
    "python.lib.io.file_io.FileIO": "agog.gfile:GFile",
    "python.lib.io.file_io.create_dir": "agog.gfile:MkDir",
    "python.lib.io.file_io.delete_file": "agog.gfile:Remove",
    "python.lib.io.file_io.file_exists": "agog.gfile:Exists",
    "python.lib.io.file_io.get_matching_files": "agog.gfile:Glob",
    "python.lib.io.file_io.recursive_create_dir": "agog.gfile:MakeDirs",
    "python.ops.linalg.linalg_impl.matrix_exponential": "agog.linalg:expm",
    "python.ops.logging_ops.print_v2": "agog:print",
    "python.platform.benchmark.TensorFlowBenchmark": "agog.test:Benchmark",
    "python.ops.gen_math_ops.mul": "agog:multiply",
    "python.ops.gen_math_ops.sub": "agog:subtract",
    "python.ops.gen_math_ops.neg": "agog:negative",
    "python.ops.gen_math_ops.mean": "agog:reduce_mean",
    "python.ops.gen_math_ops.mat_mul": "agog:matmul",
    "python.ops.math_ops.mul": "agog:multiply",
    "python.ops.math_ops.sub": "agog:subtract",
    "python.ops.math_ops.neg": "agog:negative",
    "python.framework.ops.convert_n_to_tensor": f"{_INTERNALS}.tensor_util:convert_n_to_tensor",
    "python.framework.ops.get_name_scope": "agog_core.variables.name_scope:current_name_scope",
    "python.ops.control_flow_ops.with_dependencies": "agog_compat.graph_scopes:with_dependencies",
    "python.ops.string_ops.string_format": "agog.strings:format",
    "python.ops.string_ops.string_length": "agog.strings:length",
    "python.ops.array_ops.rank_internal": "agog:rank",
    "python.ops.array_ops.listdiff": "agog:setdiff1d",
    "python.ops.variable_scope.variable": "agog:Variable",
    "python.training.checkpoint_state_pb2.CheckpointState": "agog_checkpoint.folders:CheckpointState",
    "python.training.saver.BaseSaverBuilder": f"{_INTERNALS}.saveables:BaseSaverBuilder",
    "python.training.checkpointable.util.CheckpointableSaver": "agog.eager:CheckpointableSaver",
}


def searched(sources: tuple[str, ...], name: str) -> Any:
    """A name of the first of some modules that has it; an AttributeError where none has, with advice if any."""
    errors = []
    try:
        for source in sources:
            try:
                return getattr(import_module(source), name)
            except AttributeError as error:
                errors.append(error)
        raise next((error for error in errors if advises(error)), errors[0])
    finally:
        errors.clear()  # they hold this frame and so their callers', which would be garbage in a cycle


def advises(error: AttributeError) -> bool:
    """Whether an error says more than Python's own, which says that a module has no such attribute."""
    return not str(error).startswith("module ")


def why_not(place: str) -> str:
    """Why agog has no module in place of one of TensorFlow: what it advises instead, where it does."""
    parent, _, name = place.rpartition(".")
    try:
        searched(sources_of(parent) or ("agog",), name)
    except AttributeError as error:
        if advises(error):
            return str(error)
    return "agog stands in for TensorFlow here, and has nothing that this module holds."


def refusal(place: str) -> str:
    """What is said of a name of a module that agog has nothing of: what to write instead, where that is known."""
    *outer, name = parts = place.split(".")
    around = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    public = [f"{outer[-1]}.{name}", outer[-1], name] if parts[0] in ("core", "python") else []
    for each in (*around, *public):
        advice = advice_on(f"tf.{each}")
        if advice:
            return f"tensorflow.{place}: not in agog; {advice}"
    for home in _HOMES.split():
        if hasattr(import_module(home), name):
            return f"tensorflow.{place}: agog has this as {said(home)}.{name}"
    return f"tensorflow.{place}: agog has nothing of this module."


def sources_of(place: str) -> tuple[str, ...] | None:
    """The modules of agog that are searched for the names of a module of TensorFlow; None where it has no such module.

    Args:
        place: the module's name without TensorFlow's, such as ``"keras.layers"``.
    """
    if place in PLACES:
        return PLACES[place]
    parent, _, name = place.rpartition(".")
    if has_modules_only(parent) and not name[:1].isupper():  # a name that begins so is a class's
        return ()
    for source in sources_of(parent) or ():
        value = getattr(import_module(source), name, None)
        if isinstance(value, ModuleType) and value.__name__.startswith("agog"):
            return (value.__name__,)
    # What TensorFlow keeps inside of Keras, Keras itself has below its own name.
    return sources_of(f"python.{place}") if place.startswith("keras.") else None


def has_modules_only(place: str) -> bool:
    """Whether a module is a package inside of TensorFlow that has nothing but modules.

    Programs import more of these modules than they use, some for their effect on graphs alone. So all of them can be
    imported, and what agog has not is missed when it is used.
    """
    return PLACES.get(place) == ()


def is_absent(place: str) -> bool:
    """Whether a module can be imported though agog has nothing that it holds, nor any module below it does."""
    there = (*(each for each in PLACES if PLACES[each]), *RENAMED)
    return sources_of(place) == () and not any(each.startswith(f"{place}.") for each in there)
