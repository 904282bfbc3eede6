"""Lookup: tables from keys to values."""

from agog_compat.lookup.hashing import *
from agog_compat.lookup.initializers import *
from agog_compat.lookup.mutable import *
from agog_compat.lookup.tables import *
from agog_compat.lookup.vocabularies import *
from agog_core.exports import export as _export

_export(globals())
