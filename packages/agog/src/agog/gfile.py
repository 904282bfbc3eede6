"""``tf.gfile``: files and folders."""

from agog_compat.advice import face as _face
from agog_compat.gfile import GFile as FastGFile
from agog_compat.gfile import GFile as GFile
from agog_compat.gfile import GFile as Open
from agog_compat.gfile import copy as Copy
from agog_compat.gfile import delete_recursively as DeleteRecursively
from agog_compat.gfile import exists as Exists
from agog_compat.gfile import is_directory as IsDirectory
from agog_compat.gfile import list_directory as ListDirectory
from agog_compat.gfile import make_dir as MkDir
from agog_compat.gfile import make_dirs as MakeDirs
from agog_compat.gfile import remove as Remove
from agog_compat.gfile import rename as Rename
from agog_compat.gfile import stat as Stat
from agog_compat.gfile import walk as Walk
from agog_core.files import find as Glob

_face(globals())
