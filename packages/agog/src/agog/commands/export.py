"""Export: the command to write a model's file as an ONNX model."""

from __future__ import annotations

from importlib.util import find_spec

import click

from agog_core.errors import OpError

_NOTHING = "agog export: it needs agog-export: `python -m pip install 'agog-export[onnx]'`."


@click.command()
@click.argument("model", type=click.Path(exists=True))
@click.argument("filepath", type=click.Path(dir_okay=False))
@click.option("--beside", is_flag=True, help="Write the weights into a second file.")
def export(model: str, filepath: str, beside: bool) -> None:
    """Write the file MODEL, as Model.save wrote it, as the ONNX model FILEPATH.

    Its inputs are those that the model was built on, for batches of any size.
    """
    if find_spec("agog_export") is None:
        raise click.ClickException(_NOTHING)
    from agog_export import onnx
    from agog_training.saving.model_file import load_model

    try:
        written = onnx(load_model(model, compile=False), filepath, weights="beside" if beside else "inside")
    except (ImportError, OpError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    inputs, outputs = (", ".join(x.name for x in values) for values in (written.graph.input, written.graph.output))
    click.echo(f"{filepath}: {len(written.graph.node)} nodes, from {inputs} to {outputs}.")
