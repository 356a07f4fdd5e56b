"""Commands that use a finished run."""

import argparse
from pathlib import Path

from mtl.api.commands.job_settings import Commands


def add_models(commands: Commands) -> None:
    """Commands that use a finished run."""
    predict = commands.add_parser("predict", help="predict a task's targets for new rows")
    predict.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a finished run")
    predict.add_argument(
        "file", type=Path, metavar="FILE", help="a .tsv, .csv, .jsonl or .parquet file with the task's text columns"
    )
    predict.add_argument("--task", required=True, help="the id of the task that the rows are of")
    predict.add_argument(
        "--seed", type=int, help="a seed of the run; default: the one with the best score on the task's dev split"
    )
    predict.add_argument("--out", type=Path, help="a file to write to, else standard output")
    _add_device(predict)
    predict.set_defaults(run=_predict)


def _add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, or auto: a GPU if there is one")


def _predict(arguments: argparse.Namespace) -> None:
    from mtl.methods.predictor import Predictor

    predictor = Predictor.load(arguments.run_dir, arguments.seed, arguments.task, arguments.device)
    predictor.predict_file(arguments.task, arguments.file, arguments.out)
