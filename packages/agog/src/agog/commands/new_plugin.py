"""New plugin: the command to write a plugin's distribution: a kernel, a device, an op or a compiler."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple

import click

from agog_core.dispatch.devices.backends import device_types
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.loader import loader

_SUFFIX = ".template"


class Kind(NamedTuple):
    """What the files of a kind of plugin say of it."""

    description: str
    dependencies: str
    test_dependencies: str
    try_it: str
    selection: str
    next_steps: str


_KINDS = {
    "kernel": Kind(
        "A kernel for an op that exists",
        '"agog-core", "numpy"',
        '"agog-testing", "agog-cpu-numpy", "pytest"',
        "agog explain square     # it is chosen, and over what",
        "",
        "Then write your own kernel in `src/$module/kernels.py`, and name its op, dtypes and condition in `hooks.py`. "
        "Prove that it is\nfaster: `agog-conformance $name --faster-than cpu-numpy`.",
    ),
    "op": Kind(
        "A new op",
        '"agog-core", "numpy"',
        '"agog-testing", "agog-cpu-numpy", "pytest"',
        'python -c "import agog as tf; from $module import $op; print($op(tf.constant(2.0)))"',
        "",
        "Then write your own op in `src/$module/ops.py`, its kernel in `kernels.py`, and its samples and reference in "
        "`facts.py`.",
    ),
    "compiler": Kind(
        "A compiler of traced functions",
        '"agog-core", "numpy"',
        '"agog-testing", "agog-cpu-executor", "pytest"',
        "agog explain --compilers     # it is asked first",
        ', ops=["softmax", "add"]',
        "Then let `takes` in `src/$module/compiler.py` say what you compile, and `compile` return your own function. "
        "The test runs two\nops; `agog-conformance $name` runs all, and random programs.",
    ),
    "device": Kind(
        "A device",
        '"agog-core", "agog-kernels-xp", "numpy"',
        '"agog-testing", "agog-cpu-numpy", "pytest"',
        "python -c \"import agog as tf; tf.device('$device').__enter__(); print(tf.ones([2]).device)\"",
        ', ops=["add", "matmul", "reduce_sum"]',
        "Then put your library's arrays in place of NumPy's in `src/$module/array.py`, and its kernels in "
        "`kernels.py`. The test runs a\nfew ops; `agog-conformance $name` runs all.",
    ),
}


@click.command()
@click.argument("name")
@click.option("--compiler", "kind", flag_value="compiler", help="Write a compiler of traced functions.")
@click.option("--device", "kind", flag_value="device", help="Write a device, with a kernel for each op.")
@click.option("--op", "kind", flag_value="op", help="Write a new op, with its gradient, kernel and facts.")
def new_plugin(name: str, kind: str | None) -> None:
    """Write a plugin's distribution into the folder ./NAME: a kernel, or what an option says."""
    kind = kind or "kernel"
    module = re.sub("[-.]", "_", name).lower()
    subject = module.removeprefix("agog_")
    _check(name, module, subject, kind)
    folder = Path(name)
    names = {"name": name, "module": module, "op": subject, "device": subject}
    texts = {key: Template(text).substitute(names) for key, text in _KINDS[kind]._asdict().items()}
    for path, text in _files(kind):
        target = folder / path.replace("_module_", module)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(text).substitute(names, **texts), encoding="utf-8")
        click.echo(f"wrote {target}")
    click.echo(f'Next: cd {name}; pip install ".[test]"; agog-conformance {name}')


def _check(name: str, module: str, subject: str, kind: str) -> None:
    """Refuse names that would not install, or would be something else's."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*([._-][A-Za-z0-9]+)*", name) or not module.isidentifier():
        raise click.ClickException(
            f"{name!r} is no name of a distribution: use letters, digits and single dashes, such as 'fast-matmul'."
        )
    if Path(name).exists():
        raise click.ClickException(f"{name!r} exists here already; nothing was written.")
    if keyword.iskeyword(module) or keyword.iskeyword(subject) or find_spec(module) is not None:
        raise click.ClickException(
            f"the module {module!r} exists already, or is a word of Python; choose another name."
        )
    if any(plugin.name == name for plugin in loader().plugins):
        raise click.ClickException(f"a plugin {name!r} is installed already; choose another name.")
    if kind == "op" and subject in all_ops():
        raise click.ClickException(f"the op {subject!r} exists already; choose another name.")
    if kind == "device" and subject in device_types():
        raise click.ClickException(f"the device type {subject!r} exists already; choose another name.")


def _files(kind: str) -> Iterator[tuple[str, str]]:
    """The templates that make a distribution: paths in it, and texts."""
    templates = resources.files("agog.commands") / "templates"
    for part in ("common", kind):
        yield from _walk(templates / part, "")


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        inner = f"{path}{each.name}"
        if each.is_dir():
            yield from _walk(each, f"{inner}/")
        elif each.name.endswith(_SUFFIX):
            yield inner.removesuffix(_SUFFIX), each.read_text(encoding="utf-8")
