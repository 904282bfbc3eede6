"""``tf.io.gfile``: files and folders, with the names of TensorFlow 2."""

from os.path import join

from agog_compat.advice import taught as _taught
from agog_compat.gfile import GFile, copy, exists, remove, rename, stat, walk
from agog_compat.gfile import delete_recursively as rmtree
from agog_compat.gfile import is_directory as isdir
from agog_compat.gfile import list_directory as listdir
from agog_compat.gfile import make_dir as mkdir
from agog_compat.gfile import make_dirs as makedirs
from agog_core.host_files import find as glob

__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

__getattr__ = _taught(__name__)
