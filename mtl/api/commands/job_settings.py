"""Arguments that several commands have: the settings of a run as words, and a folder of runs."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mtl.jobs.job import Job

Commands: TypeAlias = "argparse._SubParsersAction[Any]"

SETTINGS_HELP = "settings, as in encoder.hidden_size=256 or --encoder.hidden_size 256; mtl baseline --help lists them"
EXAMPLES = """\
A key in a section is written with its section, as in encoder.hidden_size=256. Examples:
  mtl baseline suite=klej-sample seeds=3
  mtl baseline suite=mine.yaml embeddings=fasttext preset=strong seeds=[1,2,3] encoder.hidden_size=256
"""


def add_command(commands: Commands, name: str, run: Callable[..., Any], help: str, **options: Any) -> Any:
    """Add the command of this name, which calls `run` with its arguments, and return its parser; `options` are those of the parser."""
    parser = commands.add_parser(name, help=help, **options)
    parser.set_defaults(run=run)
    return parser


def add_runs_dir(command: argparse.ArgumentParser) -> None:
    """Add the argument of commands that read a folder of runs."""
    text = "the folder of runs; default: runs"
    command.add_argument("runs_dir", type=Path, nargs="?", default=Path("runs"), metavar="RUNS_DIR", help=text)


def add_report_dir(command: argparse.ArgumentParser, text: str) -> None:
    """Add the option of commands that write a report."""
    command.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help=f"{text}; default: report")


def job_of(settings: Sequence[str]) -> "Job":
    """The run that words `key=value` describe. Raises InputError."""
    from mtl.jobs.job import load_job, parse_settings

    return load_job(parse_settings(settings))


def keys_text() -> str:
    """The keys of a run's settings in groups, with their defaults and meaning, and examples, as a command's help shows them."""
    from mtl.base.settings.layers import shipped

    keys = (shipped("configs") / "baseline.yaml").read_text(encoding="utf-8").partition("\n\n")[2]
    return f"settings and their defaults, which a preset, the method or the suite may change (mtl config shows them):\n\n{keys}\n{EXAMPLES}"


def setting_text(value: Any) -> str:
    """A value as it is written on the command line: in YAML, on one line."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    text = text.removesuffix("\n").removesuffix("\n...")
    return text.replace(", ", ",") if isinstance(value, list) else text
