"""Tables: drawn in a terminal, and as plain columns without wrapping in a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], errors: bool = False) -> None:
    """Print rows under titles, to the standard output or to that for errors."""
    if (sys.stderr if errors else sys.stdout).isatty():
        _draw(titles, rows, errors)
    else:
        print_columns([titles, *rows], errors)


def print_columns(rows: Sequence[Sequence[str]], errors: bool = False) -> None:
    """Print rows, each on one line, whose cells are two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), err=errors)


def _draw(titles: Sequence[str], rows: Sequence[Sequence[str]], errors: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # what plugins say is no markup
    Console(stderr=errors).print(table)
