"""Processes of the kit: how they are started, and the first that they are asked: what there is to test."""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import BaseContext

from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.plugins.registration import REGISTERED
from agog_testing.conformance.cases import ConformanceError
from agog_testing.conformance.work import Listing, Request
from agog_testing.conformance.workers import Died, Workers

_SECONDS_TO_COLLECT = 60.0


def start_method() -> BaseContext:
    """The start method of processes: a plugin registered by a program needs a fork, since it cannot be loaded anew."""
    registered = [plugin.name for plugin in loader().plugins if plugin.distribution == REGISTERED]
    if not registered:
        return multiprocessing.get_context("spawn")
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ConformanceError(
            f"the plugins {', '.join(registered)} exist in this process only, and this system cannot fork it; install "
            "them, or run what agog_testing.conformance.collect returns."
        )
    return multiprocessing.get_context("fork")


def listing(workers: Workers, plugin: str) -> Listing:
    """The tests of a plugin; raises `ConformanceError` where they cannot be collected."""
    ((_, found),) = workers.run([Request("list")], _SECONDS_TO_COLLECT)
    if isinstance(found, Died):
        raise ConformanceError(f"the tests of plugin {plugin!r} cannot be collected: {found.text}")
    if isinstance(found, ConformanceError):
        raise found
    assert isinstance(found, Listing)
    return found
