"""Files: those of this machine, and those at URLs, by the package fsspec."""

from agog_core.files.errors import *
from agog_core.files.file_system import *
from agog_core.files.paths import *
from agog_core.files.patterns import *
