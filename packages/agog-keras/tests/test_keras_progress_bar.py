"""Bars that programs move by themselves."""

from __future__ import annotations

import pytest

from agog_keras.progress_bar import Progbar


def test_bars(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progbar(4, verbose=2, stateful_metrics=["rate"])
    bar.add(3, [("loss", 1.0), ("rate", 5.0)])
    bar.add(1, [("loss", 5.0), ("rate", 7.0)])
    assert capsys.readouterr().out == "4/4  loss: 2.0000  rate: 7.0000\n"
    shown = Progbar(2)
    shown.update(2)
    assert "2/2" in capsys.readouterr().err
