"""A server that is like S3, by moto, on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import fsspec
import pytest

os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/moto-api/").close()
                break
            except OSError:
                time.sleep(0.1)
        fsspec.config.conf["s3"] = {"client_kwargs": {"endpoint_url": url}}
        yield url
        process.terminate()


@pytest.fixture
def bucket(server: str) -> Iterator[str]:
    """The URL of an empty bucket."""
    system = fsspec.filesystem("s3")
    system.mkdir("bucket")
    yield "s3://bucket"
    system.invalidate_cache()
    system.rm("bucket", recursive=True)
