"""Activation: importing this module lets the process find TensorFlow's modules in agog."""

from __future__ import annotations

from agog.commands.tensorflow1.advice import teach
from agog.commands.tensorflow1.child_processes import follow
from agog.commands.tensorflow1.finder import activate
from agog.commands.tensorflow1.restored_names import put_back

activate()
put_back()
teach()
follow()
