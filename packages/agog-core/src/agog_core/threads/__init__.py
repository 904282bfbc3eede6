"""Threads: how many compute, who is told of it, and whose pool has them.

Plugins import it as `agog_core.plugin.threads`.
"""

from agog_core.threads.number import *
from agog_core.threads.pools import *
