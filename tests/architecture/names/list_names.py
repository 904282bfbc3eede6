"""Lists the public names of a TensorFlow or Keras, from its wheel, which is read and never run.

python tests/architecture/names/list_names.py tensorflow-2.21.0-....whl > tests/architecture/names/tensorflow_2.txt
"""

from __future__ import annotations

import ast
import re
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

# Where the files are that only import: the folder in the wheel, and the namespace that it stands for.
FOLDERS = {
    r".*/purelib/tensorflow/_api/v1/": "tf",
    r"tensorflow/_api/v2/compat/v2/": "tf",
    r"keras/_tf_keras/keras/": "tf.keras",
}


def imported(source: str) -> set[str]:
    """The public names that a file imports."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found |= {alias.asname or alias.name for alias in node.names}
    return {name for name in found if not name.startswith("_")}


def names(wheel: str) -> dict[str, set[str]]:
    """The names of each namespace."""
    found: dict[str, set[str]] = defaultdict(set)
    with zipfile.ZipFile(wheel) as file:
        for path in file.namelist():
            for folder, root in FOLDERS.items():
                match = re.fullmatch(folder + r"((?:[a-z]\w*/)*)__init__\.py", path)
                if match:
                    parts = match.group(1).strip("/").split("/") if match.group(1) else []
                    namespace = ".".join([root, *parts])
                    found[namespace] |= imported(file.read(path).decode("utf-8"))
                    if parts:
                        found[".".join([root, *parts[:-1]])].add(parts[-1])
    return found


if __name__ == "__main__":
    for namespace, listed in sorted(names(str(Path(sys.argv[1]))).items()):
        if not namespace.startswith(("tf.compat.v", "tf.raw_ops")):
            print(f"{namespace}: {' '.join(sorted(listed))}")
