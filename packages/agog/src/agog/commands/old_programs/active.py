"""Active: importing this module lets the process find TensorFlow's modules in agog."""

from __future__ import annotations

from agog.commands.old_programs.children import follow
from agog.commands.old_programs.dropped import teach
from agog.commands.old_programs.finder import activate
from agog.commands.old_programs.leftovers import put_back

activate()
put_back()
teach()
follow()
