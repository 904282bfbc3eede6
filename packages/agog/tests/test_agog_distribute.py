"""tf.distribute: loaded when it is asked for, and a sentence where it is not installed."""

from __future__ import annotations

import subprocess
import sys


def test_without_the_package_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['agog_distribute'] = None\n"
        "import agog as tf\n"
        "for find in (lambda: tf.distribute, lambda: tf.contrib.distribute):\n"
        "    try:\n"
        "        find()\n"
        "    except ImportError as error:\n"
        "        print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sentence = "tf.distribute needs agog-distribute: `python -m pip install agog-distribute 'agog-mpi[mpich]'`."
    assert done.stdout.splitlines() == [sentence, sentence]


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, agog as tf\n"
        "tf.add(1.0, 2.0); tf.contrib; tf.nn.relu(1.0)\n"
        "before = {name for name in sys.modules if name.startswith('agog_distribute.')}\n"
        "tf.distribute.MirroredStrategy\n"
        "print(sorted(before & {'agog_distribute.strategies.strategy', 'agog_distribute.datasets'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
