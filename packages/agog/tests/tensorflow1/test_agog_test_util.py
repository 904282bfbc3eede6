"""The decorators and helpers of TensorFlow's own tests, in `tensorflow.python.framework.test_util`."""

from __future__ import annotations

import agog as tf
from agog.commands.tensorflow1.internals import test_util


def test_tests_of_graphs_are_skipped() -> None:
    @test_util.run_v1_only("b/1")
    class Graphs(test_util.TensorFlowTestCase):
        def test_it(self) -> None:
            raise AssertionError

    result = Graphs("test_it").run()
    assert result is not None
    assert [reason for _, reason in result.skipped] == ["It needs graphs, which agog has not. b/1"]

    class Some(test_util.TensorFlowTestCase):
        @test_util.run_deprecated_v1
        def test_it(self) -> None:
            raise AssertionError

        @test_util.skip_if(lambda: True)
        def test_other(self) -> None:
            raise AssertionError

        @test_util.skip_if(False)
        @test_util.run_in_graph_and_eager_modes
        def test_runs(self) -> None:
            with test_util.device(use_gpu=True):
                assert tf.constant(1.0).numpy() == 1.0

    for name, reasons in (
        ("test_it", ["It needs graphs, which agog has not."]),
        ("test_other", ["The condition of skip_if is true."]),
        ("test_runs", []),
    ):
        result = Some(name).run()
        assert result is not None
        assert result.wasSuccessful()
        assert [reason for _, reason in result.skipped] == reasons


def test_combinations() -> None:
    assert test_util.generate_combinations_with_testcase_name(b=[1, 2], a="x") == [
        {"a": "x", "b": 1, "testcase_name": "_test_a_x_b_1"},
        {"a": "x", "b": 2, "testcase_name": "_test_a_x_b_2"},
    ]
