"""agog-summary: summaries of a run, in event files for TensorBoard.

>>> import tempfile
>>> import agog_summary as summary
>>> with tempfile.TemporaryDirectory() as folder:
...     writer = summary.create_file_writer(folder)
...     with writer.as_default(), summary.always_record_summaries():
...         summary.scalar("loss", 0.5, step=1)
...     writer.close()
"""

from agog_core.observers.summaries import register_summaries
from agog_summary.graphs import graph, import_event
from agog_summary.metric_writer import MetricWriter
from agog_summary.recording import (
    always_record_summaries,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    should_record_summaries,
)
from agog_summary.summaries import audio, generic, histogram, image, scalar, text
from agog_summary.writer import (
    SummaryWriter,
    all_summary_ops,
    create_db_writer,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    initialize,
)

__version__ = "0.1.0"

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_db_writer",
    "create_file_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
    "should_record_summaries",
    "text",
]

register_summaries(MetricWriter())
