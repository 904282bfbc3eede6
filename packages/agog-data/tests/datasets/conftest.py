"""What several tests of databases need: a home folder of their own, and a server of small databases."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def keras_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``datasets`` of Keras, which does not exist yet, where nothing can be downloaded."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    return tmp_path / "keras" / "datasets"


class Server:
    """Serves a folder on 127.0.0.1 and remembers what was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[str] = []
        server = self

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                server.requests.append(self.path)
                super().do_GET()

        self.http = HTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of the files in a folder."""
    for variable in list(os.environ):
        if variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)
    served = tmp_path / "served"
    served.mkdir()
    found = Server(served)
    thread = threading.Thread(target=found.http.serve_forever)
    thread.start()
    yield found
    found.http.shutdown()
    found.http.server_close()
    thread.join()


@pytest.fixture
def mirror(keras_folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server of files, in the place of Keras's."""
    monkeypatch.setattr("agog_data.datasets.keras_files.MIRRORS", (server.url,))
    return server
