"""A real TensorBoard in a real browser shows our summaries. AGOG_SCREENSHOTS names a folder for the pictures."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.support.wait import WebDriverWait

SECONDS = 60
# The text of the page, also that of components, which keep theirs in shadow trees.
TEXT = """
function text(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.textContent + " ";
    if (["SCRIPT", "STYLE"].includes(node.nodeName)) return "";
    return [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes].map(text).join("");
}
return text(document.body).replace(/\\s+/g, " ");
"""
# How many elements match a selector, also in shadow trees.
COUNT = """
const selector = arguments[0];
function count(root) {
    const inner = [...root.querySelectorAll("*")].filter(e => e.shadowRoot).map(e => count(e.shadowRoot));
    return inner.reduce((a, b) => a + b, root.querySelectorAll(selector).length);
}
return count(document);
"""


@contextmanager
def tensorboard(logdir: Path) -> Iterator[str]:
    """The address of a TensorBoard that shows a folder."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "localhost"]
    with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            for line in server.stderr:
                if found := re.search(r"http://localhost:\d+/", line):
                    yield found[0]
                    break
            else:
                pytest.fail("TensorBoard ended without saying where it is.")
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def address(run: Any) -> Iterator[str]:
    """Where a TensorBoard shows the run."""
    with tensorboard(run.folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Chromium without a window, and with nothing but the page."""
    options, profile = ChromeOptions(), tmp_path_factory.mktemp("profile")
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    switches = ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"]
    switches += ["disable-background-networking", "disable-component-update", "window-size=1400,1000"]
    for switch in [*switches, f"user-data-dir={profile}"]:
        options.add_argument(f"--{switch}")
    chrome = Chrome(options, ChromeService(shutil.which("chromedriver") or "chromedriver"))
    try:
        yield chrome
    finally:
        chrome.quit()


@pytest.mark.parametrize(
    ("page", "texts", "selector"),
    [
        ("scalars", ["loss", "model", "tape", "resumed"], "vz-line-chart2"),
        ("images", ["digits/image", "step 5"], "img[src*=individualImage]"),
        ("histograms", ["weights", "model", "tape"], "vz-histogram-timeseries"),
        ("audio", ["beep/audio", "step 5"], "audio[src*=individualAudio]"),
        ("text", ["note", "halved", "A first note"], "strong"),
        ("graphs", ["left", "right", "encoder", "both", "logits"], "g.node"),
    ],
)
def test_page(address: str, browser: Chrome, page: str, texts: list[str], selector: str) -> None:
    browser.get("about:blank")
    browser.get(f"{address}#{page}")
    check(browser, page, texts, selector)


@pytest.mark.parametrize("name", ["tape", "traced"])
def test_graph_of_a_call(run: Any, browser: Chrome, name: str) -> None:
    with tensorboard(run.folder / name) as address:
        browser.get(f"{address}#graphs")
        check(browser, name, ["concat", "square", "reduce_mean", "encoder"], "g.node")


def check(browser: Chrome, picture: str, texts: list[str], selector: str) -> None:
    """Wait until the page has some texts and an element, and take a picture."""
    missing: list[str] = []

    def shown(_: Chrome) -> bool:
        nonlocal missing
        text = browser.execute_script(TEXT)
        missing = [each for each in texts if each not in text]
        missing += [selector] if browser.execute_script(COUNT, selector) == 0 else []
        return not missing

    try:
        WebDriverWait(browser, SECONDS).until(shown)
        time.sleep(1)  # until the charts have moved to their places
    except TimeoutException:
        pytest.fail(f"After {SECONDS} seconds the page lacks {missing}: {browser.execute_script(TEXT)}")
    finally:
        folder = Path(os.environ["AGOG_SCREENSHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(folder / f"{picture}.png"))


def test_a_run_that_went_on_shows_nothing_of_later_steps(run: Any, address: str) -> None:
    query = f"{address}data/plugin/scalars/scalars?run=resumed&tag=loss"
    expected = [*((step, 1.0) for step in range(6)), (6, 2.0), (7, 2.0)]
    for _ in range(SECONDS):
        with suppress(HTTPError), urlopen(query) as answer:  # not found until it is read
            shown = [(step, value) for _, step, value in json.load(answer)]
            if shown == expected:
                return
        time.sleep(1)
    assert shown == expected
