"""The repository's own rules: what each member has, what files are called, how large they grow."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agog.commands import doctor

ROOT = Path(__file__).parents[2]
MEMBERS = sorted(path for group in ("packages", "plugins") for path in (ROOT / group).iterdir() if path.is_dir())
VAGUE_NAMES = {"common", "helpers", "misc", "utils"}
LONGEST_SOURCE_FILE = 400
SETTINGS = {"FUZZ", "often"}  # of Hypothesis, which several tests of a file share
READ_VARIABLE = re.compile(r'environ\.get\("(AGOG_\w+)"')
# Written so that this file does not contain what it looks for.
LOCAL_PATH = re.compile(r"/wor[k]/|(?<![\w-])share[d]/")

each_member = pytest.mark.parametrize("member", MEMBERS, ids=lambda path: path.name)


def project(member: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((member / "pyproject.toml").read_text())["project"]
    return table


def import_name(member: Path) -> str:
    return member.name.replace("-", "_")


def source_files() -> list[Path]:
    return [file for member in MEMBERS for file in (member / "src").rglob("*.py")]


def files_in_test_folders() -> list[Path]:
    folders = [*(member / "tests" for member in MEMBERS), ROOT / "tests"]
    found = [file for folder in folders for file in folder.rglob("*.py")]
    return [
        file for file in found if not ({"strangers", "src"} <= {*file.parts} or "standin" in file.parts)
    ]  # those stand for distributions


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so nothing says which files belong to the project")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


@each_member
def test_member_is_complete(member: Path) -> None:
    package = member / "src" / import_name(member)
    expected = [
        *(member / name for name in ("LICENSE", "README.md", "pyproject.toml")),
        *(package / name for name in ("__init__.py", "py.typed")),
    ]
    missing = [str(file.relative_to(ROOT)) for file in expected if not file.is_file()]
    assert missing == []
    # A link would lead out of the member's sdist.
    assert not expected[0].is_symlink()
    assert expected[0].read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert [path.name for path in (member / "src").iterdir() if path.name != "__pycache__"] == [import_name(member)]
    assert list((member / "tests").rglob("test_*.py")), f"{member.name} has no tests"


@each_member
def test_folder_name_is_distribution_name(member: Path) -> None:
    assert project(member)["name"] == member.name


@each_member
def test_member_runs_on_python_3_11_and_is_typed(member: Path) -> None:
    table = project(member)
    assert table["requires-python"] == ">=3.11"
    assert table["license"] == "Apache-2.0"
    assert "Typing :: Typed" in table["classifiers"]


def test_all_members_have_one_version() -> None:
    assert len({project(member)["version"] for member in MEMBERS}) == 1


@each_member
def test_members_require_each_other_at_their_own_version(member: Path) -> None:
    table = project(member)
    names = {path.name for path in MEMBERS}
    requirements = [*table["dependencies"], *table["optional-dependencies"]["test"]]
    between = [text for text in requirements if re.split(r"[^\w-]", text)[0] in names]
    assert [text for text in between if not text.endswith(f"=={table['version']}")] == []


def test_changelog_has_the_version() -> None:
    version = project(MEMBERS[0])["version"]
    assert re.search(rf"^## \[{re.escape(version)}\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_tools_know_every_member() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert sorted(tools["mypy"]["mypy_path"]) == sorted(str((member / "src").relative_to(ROOT)) for member in MEMBERS)
    assert sorted(tools["importlinter"]["root_packages"]) == sorted(map(import_name, MEMBERS))


def test_test_files_have_unique_names() -> None:
    names = Counter(file.name for file in files_in_test_folders() if file.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []


@each_member
def test_test_files_are_named_after_their_member(member: Path) -> None:
    prefix = f"test_{import_name(member).removeprefix('agog_')}_"
    names = [file.name for file in (member / "tests").rglob("test_*.py")]
    assert [name for name in names if not name.startswith(prefix)] == []


def test_test_folders_are_no_packages() -> None:
    assert [str(file.relative_to(ROOT)) for file in files_in_test_folders() if file.name == "__init__.py"] == []


def test_no_example_of_hypothesis_has_the_usual_deadline() -> None:
    """On a busy machine an example may take longer than that fifth of a second."""
    found = []
    for file in files_in_test_folders():
        if "from hypothesis import" not in (text := file.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "settings":
                if "deadline=" not in ast.unparse(node):
                    found.append(f"{file.name}:{node.lineno}")
            elif isinstance(node, ast.FunctionDef):
                decorators = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
                if "given" in decorators and not decorators & {"settings", *SETTINGS}:
                    found.append(f"{file.name}: {node.name}")
    assert found == []


def test_source_files_are_short() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in source_files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_SOURCE_FILE} == {}


def test_one_file_writes_the_memory_of_variables() -> None:
    written = {
        (str(file.relative_to(ROOT)), node.attr)
        for file in source_files()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in ("_lent", "_tensor")
    }
    owner = "packages/agog-core/src/agog_core/variables/memory.py"
    assert written == {(owner, "_lent"), (owner, "_tensor")}


def test_no_module_has_a_vague_name() -> None:
    umbrella = ROOT / "packages" / "agog" / "src"  # its namespaces have TensorFlow's names, such as tf.keras.utils
    files = [file for file in [*source_files(), *files_in_test_folders()] if umbrella not in file.parents]
    vague = [file for file in files if VAGUE_NAMES & {*file.relative_to(ROOT).with_suffix("").parts}]
    assert vague == []


def test_the_doctor_knows_what_is_read_of_the_environment() -> None:
    sources = [file.read_text() for file in source_files()]
    tests = [file.read_text() for file in [*files_in_test_folders(), ROOT / "noxfile.py"]]
    assert {name for text in sources for name in READ_VARIABLE.findall(text)} == {*doctor.VARIABLES}
    known = {*doctor.VARIABLES, *doctor.OF_TESTS}
    assert {name for text in tests for name in READ_VARIABLE.findall(text)} <= known


def test_no_file_speaks_of_one_machine() -> None:
    found = []
    for file in tracked_files():
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:  # not a text
            continue
        for number, line in enumerate(lines, start=1):
            is_data_folder = file == ROOT / ".ci" / "run" and "AGOG_DATA_DIR" in line
            if LOCAL_PATH.search(line) and not is_data_folder:
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []
