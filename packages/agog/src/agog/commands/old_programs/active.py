"""Active: an import of this module makes TensorFlow's modules those of agog in this process."""

from __future__ import annotations

from agog.commands.old_programs.children import follow
from agog.commands.old_programs.dropped import teach
from agog.commands.old_programs.finder import activate
from agog.commands.old_programs.leftovers import put_back

activate()
put_back()
teach()
follow()
