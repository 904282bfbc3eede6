"""What was saved is there after loading, without its class: functions, variables, containers, files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import agog_core as ag
from agog_saved_model import contains_saved_model, load, save
from agog_testing import says


def saved(value: Any, tmp_path: Path, **options: Any) -> Any:
    save(value, tmp_path / "model", **options)
    return load(tmp_path / "model")


def test_functions_and_parts(line: Any, tmp_path: Path) -> None:
    loaded = saved(line, tmp_path)
    assert loaded(ag.constant([1.0, 3.0])).numpy().tolist() == [2.5, 6.5]
    assert loaded([1.0]).numpy().tolist() == [2.5]
    assert {k: float(v) for k, v in loaded.scaled(ag.constant(4.0)).items()} == {"a": 16.0}
    found = loaded.scaled(np.array([1.0, 2.0], "f"), scale=3.0, names=("b", "c"))
    assert {k: v.numpy().tolist() for k, v in found.items()} == {"b": [6.0, 12.0], "c": [6.0, 12.0]}
    assert loaded.parts[0] is loaded.slope
    assert [v.name for v in loaded.variables] == [v.name for v in line.variables]
    assert [v.trainable for v in loaded.parts] == [True, False]
    assert int(loaded.by_name["steps"]) == 3
    assert float(loaded.by_name["inner"].bias) == 0.5
    assert loaded.offsets.numpy().tolist() == [1, 2]
    assert not hasattr(loaded, "note")


def test_variables_are_shared_and_written(line: Any, tmp_path: Path) -> None:
    loaded = saved(line, tmp_path)
    assert float(loaded.step(1.5)) == 3.5
    assert (float(loaded.slope), int(loaded.by_name["steps"])) == (3.5, 4)
    loaded.slope.assign(10.0)
    assert loaded([1.0]).numpy().tolist() == [10.5]
    assert (float(line.slope), int(line.by_name["steps"])) == (2.0, 3)


def test_training_goes_on(line: Any, tmp_path: Path) -> None:
    loaded = saved(line, tmp_path)
    for module in (line, loaded):
        for _ in range(3):
            with ag.GradientTape() as tape:
                loss = ag.reduce_mean((module(ag.constant([1.0, 2.0, 3.0])) - 1.0) ** 2)
            variables = [module.slope, module.by_name["inner"].bias]
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(gradient * 0.05)
    assert float(loaded.slope) == float(line.slope) != 2.0
    assert float(loaded.by_name["inner"].bias) == float(line.by_name["inner"].bias)


def test_files_are_found_where_the_folder_is_moved_to(line: Any, tmp_path: Path) -> None:
    save(line, tmp_path / "model")
    shutil.move(tmp_path / "model", tmp_path / "moved")
    (tmp_path / "vocabulary.txt").unlink()
    loaded = load(tmp_path / "moved")
    path = Path(loaded.path().numpy().decode())
    assert path == tmp_path / "moved" / "assets" / "vocabulary.txt"
    assert path.read_text() == "a\nb\n"
    assert loaded.file.asset_path.numpy() == loaded.path().numpy()


def test_signatures(line: Any, tmp_path: Path) -> None:
    concrete = line.scaled.get_concrete_function(ag.TensorSpec([None], name="y"), 4.0, names=("p",))
    loaded = saved(line, tmp_path, signatures={"serving_default": line.__call__, "scaled": concrete})
    serve, scaled = loaded.signatures["serving_default"], loaded.signatures["scaled"]
    assert list(loaded.signatures) == ["serving_default", "scaled"]
    assert serve(x=ag.constant([2.0]))["output_0"].numpy().tolist() == [4.5]
    assert scaled(y=ag.constant([2.0]))["p"].numpy().tolist() == [16.0]
    assert [str(each) for each in serve.structured_input_signature[1].values()] == [
        str(ag.TensorSpec([None], name="x"))
    ]
    assert {name: spec.shape.as_list() for name, spec in serve.structured_outputs.items()} == {"output_0": [None]}
    with says(TypeError, "serving_default: it takes the tensors x by name; got 0 by place and y by name."):
        serve(y=ag.constant([2.0]))
    with says(ValueError, "serving_default: x must be float32 (?,); got int32 (1,)."):
        serve(x=ag.constant([2]))


def test_other_arguments_are_told(line: Any, tmp_path: Path) -> None:
    loaded = saved(line, tmp_path)
    with says(
        ValueError,
        "scaled: it was not saved for these arguments: x=int32 (3,). It was saved for x=float32 (); or x=float32 (2,), "
        "scale=3.0, names=['b', 'c'].",
    ):
        loaded.scaled(ag.constant([1, 2, 3]))
    with says(TypeError, "step: missing a required argument: 'x'; it takes (x)."):
        loaded.step()


def test_what_was_loaded_is_saved_again(line: Any, tmp_path: Path) -> None:
    loaded = saved(line, tmp_path)
    loaded.step(1.0)
    save(loaded, tmp_path / "again")
    again = load(tmp_path / "again")
    assert again([2.0]).numpy().tolist() == loaded([2.0]).numpy().tolist() == [6.5]
    assert Path(again.path().numpy().decode()).read_text() == "a\nb\n"


def test_a_folder_is_replaced(line: Any, tmp_path: Path) -> None:
    saved(line, tmp_path)
    (tmp_path / "vocabulary.txt").write_text("c\n")
    line.slope.assign(7.0)
    loaded = saved(line, tmp_path)
    assert float(loaded.slope) == 7.0
    assert Path(loaded.path().numpy().decode()).read_text() == "c\n"
    assert len(list((tmp_path / "model" / "assets").iterdir())) == 1


def test_a_new_process_needs_no_class(line: Any, tmp_path: Path) -> None:
    save(line, tmp_path / "model")
    program = (
        "import sys, numpy as np, agog_core as ag, agog_saved_model as sm\n"
        "loaded = sm.load(sys.argv[1])\n"
        "print(loaded(ag.constant([0.1, 0.7])).numpy().tobytes().hex(), float(loaded.step(1.0)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.split() == [line(ag.constant([0.1, 0.7])).numpy().tobytes().hex(), "3.0"]


def test_whether_there_is_one(line: Any, tmp_path: Path) -> None:
    assert not contains_saved_model(tmp_path)
    save(line, tmp_path / "model")
    assert contains_saved_model(tmp_path / "model")
