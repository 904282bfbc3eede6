"""tf.export: loaded when it is asked for, and a sentence where it is not installed."""

from __future__ import annotations

import subprocess
import sys


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_without_the_package_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['agog_export'] = None\n"
        "import agog as tf\n"
        "try:\n"
        "    tf.export\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert printed(code) == "tf.export needs agog-export: `python -m pip install 'agog-export[onnx]'`."


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, agog as tf\n"
        "tf.add(1.0, 2.0)\n"
        "print('agog_export' in sys.modules)\n"
        "tf.export.onnx\n"
        "print('agog_export' in sys.modules, 'onnx' in sys.modules, 'agog_export.rules' in sys.modules)"
    )
    assert printed(code).splitlines() == ["False", "True False False"]
