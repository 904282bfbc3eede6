"""`agog run`: programs that import TensorFlow run on agog, and otherwise as Python itself runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

RUN = (sys.executable, "-m", "agog", "run")


def call(*command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "AGOG_PLUGINS": "cpu-numpy", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, check=False)


def written(folder: Path, name: str, source: str) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    return str(file)


PROGRAM = """
import sys
import tensorflow as tf
import tensorflow.contrib.eager as tfe
from tensorflow.python.ops import math_ops
from tensorflow.python.framework.ops import convert_to_tensor
from tensorflow.keras.layers import Dense
from tensorflow.examples.tutorials.mnist import input_data

def main(argv):
    v = tfe.Variable(3.0)
    with tf.GradientTape() as tape:
        y = math_ops.square(v)
    print(float(tape.gradient(y, v)), argv[1:], __name__, tf.__version__)
    print(Dense is tf.keras.layers.Dense, convert_to_tensor is tf.convert_to_tensor, tf.contrib.eager is tfe)

if __name__ == "__main__":
    tf.enable_eager_execution()
    tf.app.run(main)
"""


def test_a_program_runs_unchanged(tmp_path: Path) -> None:
    script = written(tmp_path, "train.py", PROGRAM)
    done = call(*RUN, script, "--fast", "-x", "a", folder=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (
        "6.0 ['--fast', '-x', 'a'] __main__ 1.12.0\nTrue True True\n",
        "",
        0,
    )


KERAS = """
import keras
import tensorflow as tf
from keras import layers, ops
from keras.layers import Dense
from keras.models import Sequential
from keras.utils import to_categorical
from keras.preprocessing.text import Tokenizer
from keras.layers.core import Dropout
from keras.utils import np_utils
from keras.layers.experimental.preprocessing import Rescaling
from keras.engine.training import Model
import keras.backend as K

print(keras is tf.keras, layers is tf.keras.layers, Dense is layers.Dense, Dropout is layers.Dropout)
print(Model is keras.Model, Sequential is keras.Sequential)
print(keras.__version__, keras.__name__, K.int_shape(K.ones((2, 3))), ops.shape(to_categorical([0, 1])))
try:
    import keras.applications.xception
except ModuleNotFoundError as error:
    print(error.name, error)
for line in ("from keras.layers import JaxLayer", "from keras.layers import Telepathy"):
    try:
        exec(line)
    except ImportError as error:
        print(error)
"""


def test_programs_of_keras_run_too(tmp_path: Path) -> None:
    done = call(*RUN, written(tmp_path, "train.py", KERAS), folder=tmp_path)
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (
        [
            "True True True True",
            "True True",
            "2.1.6-tf tensorflow.keras (2, 3) (2, 2)",
            "keras.applications.xception No module named 'keras.applications.xception': "
            "tf.keras.applications.xception: not in agog; write the network with tf.keras.layers; its load_weights "
            "reads Keras's files",
            "cannot import name 'JaxLayer' from 'tensorflow.keras.layers': tf.keras.layers.JaxLayer: not in agog; "
            "hand over arrays with tensor.numpy() or DLPack, in a layer of your own",
            "cannot import name 'Telepathy' from 'tensorflow.keras.layers': agog has nothing of this name.",
        ],
        "",
        0,
    )


SAME = {
    "output": "import sys; print(sys.argv, sys.path[0], __file__, __name__, __spec__, __package__)",
    "exit status": "import sys; sys.exit(3)",
    "exit text": "import sys; sys.exit('bye')",
    "error": "def f():\n    1 / 0\nprint('before')\nf()",
    "chained errors": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['x']",
    "syntax error": "x = (",
    "missing module": "import not_there_at_all",
    "interrupt": "import atexit\natexit.register(print, 'cleaned up')\nraise KeyboardInterrupt",
    "end of file": "raise EOFError('no more')",
    "main module": "import __main__\nx = 5\nprint(__main__.x)",
    "pickled": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_scripts_do_what_they_do_in_python(source: str, tmp_path: Path) -> None:
    written(tmp_path, "script.py", source)
    here, there = (call(*command, "script.py", "a", folder=tmp_path) for command in (RUN, (sys.executable,)))
    assert (here.stdout, here.stderr, here.returncode) == (there.stdout, there.stderr, there.returncode)


def test_an_interrupted_program_ends_by_the_signal(tmp_path: Path) -> None:
    script = written(tmp_path, "script.py", "raise KeyboardInterrupt")
    assert call(*RUN, script, folder=tmp_path).returncode == -signal.SIGINT


@pytest.mark.parametrize("name", ["module", "package", "package.inner", "-missing", "broken"])
def test_modules_do_what_they_do_in_python(name: str, tmp_path: Path) -> None:
    shows = "import sys; print(sys.argv, sys.path[0], __name__, __spec__.name, __package__)"
    written(tmp_path, "module.py", shows)
    written(tmp_path, "package/__init__.py", "print('package')")
    written(tmp_path, "package/__main__.py", shows)
    written(tmp_path, "package/inner.py", shows)
    written(tmp_path, "broken.py", "1 / 0")
    name = name.removeprefix("-")
    here, there = (call(*command, "-m", name, "a", "-b", folder=tmp_path) for command in (RUN, (sys.executable,)))
    assert (here.stdout, here.returncode) == (there.stdout, there.returncode)
    assert here.stderr.splitlines()[-1:] == [
        line.replace(f"{sys.executable}:", "agog run:") for line in there.stderr.splitlines()[-1:]
    ]


def test_a_folder_runs_by_its_main_file(tmp_path: Path) -> None:
    written(tmp_path, "program/__main__.py", "import sys, other; print(sys.argv, sys.path[0], __name__)")
    written(tmp_path, "program/other.py", "")
    here, there = (call(*command, "program", "a", folder=tmp_path) for command in (RUN, (sys.executable,)))
    assert (here.stdout, here.stderr, here.returncode) == (there.stdout, there.stderr, there.returncode)


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = call(*RUN, "none.py", folder=tmp_path)
    path = tmp_path / "none.py"
    assert done.stderr == f"agog run: can't open file '{path}': [Errno 2] No such file or directory\n"
    assert done.returncode == 2
    empty = call(*RUN, ".", folder=tmp_path)
    assert (empty.stderr, empty.returncode) == ("agog run: can't find '__main__' module in '.'\n", 1)


def test_pytest_runs_the_tests_of_a_folder(tmp_path: Path) -> None:
    written(tmp_path, "pytest.ini", "[pytest]\n")
    written(
        tmp_path,
        "tests/doubling_test.py",
        "import tensorflow as tf\n"
        "class DoublingTest(tf.test.TestCase):\n"
        "  def testDoubles(self):\n"
        "    with self.test_session():\n"
        "      self.assertAllEqual(self.evaluate(tf.constant([1, 2]) * 2), [2, 4])\n"
        "      self.assertItemsEqual([1, 2], [2, 1])\n",
    )
    done = call(*RUN, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 passed in ")


def test_what_is_missing_is_reported(tmp_path: Path) -> None:
    script = written(
        tmp_path,
        "script.py",
        "import tensorflow as tf\n"
        "from tensorflow.python.ops import control_flow_grad\n"
        "for _ in range(3):\n"
        "  hasattr(tf, 'no_such_name')\n"
        "try:\n"
        "  import tensorflow.contrib.no_such_module\n"
        "except ImportError as error:\n"
        "  print(error)\n"
        "tf.placeholder(tf.float32)\n",
    )
    done = call(*RUN, "--report", script, folder=tmp_path)
    module = (
        "No module named 'tensorflow.contrib.no_such_module': agog stands in for TensorFlow here, and has nothing that "
        "this module holds."
    )
    assert done.returncode == 1
    assert done.stdout == module + "\n"
    refusal = "tf.placeholder() is not compatible with eager execution. Pass tensors to a function instead."
    assert done.stderr.splitlines()[-6:] == [
        f"RuntimeError: {refusal}",
        "agog run: the program asked for 4 names that agog has not:",
        "     3  tensorflow.no_such_name: module 'agog' has no attribute 'no_such_name'",
        f"     1  tensorflow.contrib.no_such_module: {module}",
        f"     1  tensorflow.placeholder: {refusal}",
        "     1  tensorflow.python.ops.control_flow_grad: agog has nothing of this module.",
    ]


CHILD = "import tensorflow as tf\nhasattr(tf, 'no_such_name')\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_the_report_has_what_child_processes_miss(method: str, tmp_path: Path) -> None:
    source = f"""
import multiprocessing
import os
import tensorflow as tf

def ask(place):
    hasattr(tf, 'no_such_name')
    os._exit(0)

if __name__ == '__main__':
    context = multiprocessing.get_context('{method}')
    children = [context.Process(target=ask, args=(place,)) for place in range(2)]
    for child in children: child.start()
    for child in children: child.join()
    hasattr(tf, 'no_such_name')
"""
    done = call(*RUN, "--report", written(tmp_path, "script.py", source), folder=tmp_path)
    assert done.stderr.splitlines() == [
        "agog run: the program asked for 1 names that agog has not:",
        "     3  tensorflow.no_such_name: module 'agog' has no attribute 'no_such_name'",
    ]


@pytest.mark.parametrize("option", [[], ["--report"]])
def test_the_report_has_what_runs_inside_miss(option: list[str], tmp_path: Path) -> None:
    command = [*RUN, *option, written(tmp_path, "child.py", CHILD)]
    script = written(tmp_path, "script.py", f"import subprocess\nsubprocess.run({command!r})\n{CHILD}")
    done = call(*RUN, "--report", script, folder=tmp_path)
    first = "agog run: the program asked for 1 names that agog has not:"
    line = "tensorflow.no_such_name: module 'agog' has no attribute 'no_such_name'"
    inside = [first, f"     1  {line}"] if option else []
    assert done.stderr.splitlines() == [*inside, first, f"     2  {line}"]


def test_a_report_of_nothing(tmp_path: Path) -> None:
    script = written(tmp_path, "script.py", "import tensorflow as tf")
    done = call(*RUN, "--report", script, folder=tmp_path)
    assert done.stderr == "agog run: the program asked for nothing that agog has not.\n"


def test_a_package_of_that_name_is_used_outside_only(tmp_path: Path) -> None:
    written(tmp_path, "installed/tensorflow/__init__.py", "print('the real one')")
    script = written(tmp_path, "script.py", "import tensorflow; print(tensorflow.__name__, tensorflow.VERSION)")
    path = {"PYTHONPATH": str(tmp_path / "installed")}
    assert call(*RUN, script, folder=tmp_path, **path).stdout == "tensorflow 1.12.0\n"
    assert call(sys.executable, "-c", "import tensorflow", folder=tmp_path, **path).stdout == "the real one\n"
    assert call(sys.executable, "-c", "import agog, tensorflow", folder=tmp_path, **path).stdout == "the real one\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_child_processes_find_it_too(method: str, tmp_path: Path) -> None:
    script = written(
        tmp_path,
        "script.py",
        "import multiprocessing\n"
        "import tensorflow as tf\n"
        "def double(x):\n"
        "  return int(tf.constant(x) * 2)\n"
        "if __name__ == '__main__':\n"
        f"  context = multiprocessing.get_context('{method}')\n"
        "  with context.Pool(1) as pool:\n"
        "    print(pool.map(double, [1, 2]))\n",
    )
    done = call(*RUN, script, folder=tmp_path)
    assert (done.stdout, done.returncode) == ("[2, 4]\n", 0), done.stderr


def test_names_that_python_and_numpy_have_dropped_are_there(tmp_path: Path) -> None:
    script = written(
        tmp_path,
        "script.py",
        "import collections, fractions, inspect, os, time, unittest\n"
        "import numpy as np\n"
        "assert np.int is int and np.float is float and np.bool(1) == True and np.NaN != np.NaN\n"
        "assert np.bool8(1) == True and np.Infinity == np.inf and np.round_(1.26, 1) == 1.3 and np.rank([[1]]) == 2\n"
        "assert np.asfarray([1]).dtype == np.float_ and np.msort([[2], [1]]).tolist() == [[1], [2]]\n"
        "assert np.product([2, 3]) == 6 and np.asscalar(np.array(5)) == 5 and np.float_ is np.float64\n"
        "assert isinstance({}, collections.Mapping) and fractions.gcd(4, 6) == 2 and os.errno.EEXIST\n"
        "assert time.clock() <= time.clock()\n"
        "assert inspect.getargspec(lambda a, *b, c=1, **d: 0) == (['a'], 'b', 'd', None)\n"
        "unittest.TestCase().assertItemsEqual([1, 2], [2, 1])\n"
        "unittest.TestCase().assertEquals(1, 1)\n",
    )
    done = call(*RUN, script, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    plain = call(sys.executable, "-c", "import agog.commands.run, numpy; numpy.int", folder=tmp_path)
    assert "AttributeError" in plain.stderr


def test_an_example_imports_its_neighbours(tmp_path: Path) -> None:
    folder = "tensorflow/contrib/eager/python/examples/line"
    written(tmp_path, f"{folder}/line.py", "import tensorflow as tf\nslope = tf.constant(2.0)\n")
    written(tmp_path, "tensorflow/python/ops/math_ops.py", "raise ImportError('half of a library')\n")
    script = written(
        tmp_path,
        f"{folder}/line_test.py",
        "from tensorflow.contrib.eager.python.examples.line import line\n"
        "from tensorflow.python.ops import math_ops\n"
        "print(float(math_ops.square(line.slope)))\n",
    )
    done = call(*RUN, script, folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.stdout, done.returncode) == ("4.0\n", 0), done.stderr


def test_warnings_are_shown_as_python_shows_them(tmp_path: Path) -> None:
    written(tmp_path, "script.py", "import warnings\nwarnings.warn('old')")
    here, there = (call(*command, "script.py", folder=tmp_path) for command in (RUN, (sys.executable,)))
    assert here.stderr == there.stderr != ""


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param(
            "np.ones(2).tostring()",
            "NumPy has dropped x.tostring; write x.tobytes().",
            marks=pytest.mark.skipif(hasattr(np.ndarray, "tostring"), reason="this NumPy has it still"),
        ),
        ("np.ones(2).itemset(0, 3)", "NumPy has dropped x.itemset; write x[index] = value."),
        ("np.float32(1).newbyteorder()", "NumPy has dropped x.newbyteorder; write x.view(x.dtype.newbyteorder())."),
        ("np.arange(3).ptp()", "NumPy has dropped x.ptp; write np.ptp(x, axis)."),
        ("np.math.pi", "AttributeError: np.math: NumPy has dropped it; write import math."),
        ("np.npv(0.1, [1])", "AttributeError: np.npv: NumPy has dropped it; write numpy_financial.npv."),
        ("np.cast", None),  # NumPy's own sentence stays
        ("np.ones(2).no_such", None),
    ],
)
def test_names_that_cannot_be_put_back_say_what_to_write(expression: str, text: str | None, tmp_path: Path) -> None:
    source = f"import numpy as np\n{expression}\n"
    done = call(*RUN, written(tmp_path, "script.py", source), folder=tmp_path)
    assert done.returncode == 1
    last = done.stderr.rstrip("\n").splitlines()[-1]
    plain = call(sys.executable, "-c", source, folder=tmp_path).stderr.rstrip("\n").splitlines()[-1]
    has_own = text is None or "was removed from" in plain  # as NumPy 2.0 says it of methods
    assert last == (plain if has_own else text)
