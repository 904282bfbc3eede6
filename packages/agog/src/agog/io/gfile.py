"""``tf.io.gfile``: files and folders, with the names of TensorFlow 2."""

from os.path import join as join

from agog_compat.advice import face as _face
from agog_compat.gfile import GFile as GFile
from agog_compat.gfile import copy as copy
from agog_compat.gfile import delete_recursively as rmtree
from agog_compat.gfile import exists as exists
from agog_compat.gfile import is_directory as isdir
from agog_compat.gfile import list_directory as listdir
from agog_compat.gfile import make_dir as mkdir
from agog_compat.gfile import make_dirs as makedirs
from agog_compat.gfile import remove as remove
from agog_compat.gfile import rename as rename
from agog_compat.gfile import stat as stat
from agog_compat.gfile import walk as walk
from agog_core.files import find as glob
from agog_core.files.retries import set_remote_retries as set_remote_retries

_face(globals())
