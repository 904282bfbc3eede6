"""Reports: what the ranks' scripts tell the launcher, and what it tells them."""

from __future__ import annotations

import json
import queue
import secrets
import socket
import threading
from contextlib import suppress
from typing import Any, NamedTuple


class Report(NamedTuple):
    """Something that a rank tells: a message of `rank.py`, or None where the connection has ended."""

    rank: int
    message: dict[str, Any] | None


class Reports:
    """Listens for the ranks of one attempt; what they tell comes into a queue.

    Args:
        host: the address at which they reach the launcher.
    """

    def __init__(self, host: str) -> None:
        self._server = socket.create_server(("" if host != "127.0.0.1" else host, 0))
        self.token = secrets.token_hex(16)
        self.address = host, int(self._server.getsockname()[1])
        self.queue: queue.Queue[Report] = queue.Queue()
        self._connections: dict[int, socket.socket] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def interrupt(self) -> None:
        """Send a Ctrl-C to all programs."""
        for connection in tuple(self._connections.values()):
            with suppress(OSError):  # it may have ended meanwhile
                connection.sendall(b"i")

    def close(self) -> None:
        """Listen no more; programs that are still there are killed by their scripts."""
        for connection in (self._server, *self._connections.values()):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                first = json.loads(lines.readline() or "{}")
                if not secrets.compare_digest(str(first.get("token", "")), self.token):
                    return
            except (OSError, ValueError):  # no rank of this attempt
                return
            rank = int(first["rank"])
            self._connections[rank] = connection
            self.queue.put(Report(rank, first))
            with suppress(OSError, ValueError):  # it may be killed in the midst of a line
                for line in lines:
                    self.queue.put(Report(rank, json.loads(line)))
            self.queue.put(Report(rank, None))
