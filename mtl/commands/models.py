"""Commands that use a finished run or another sentence encoder."""

import argparse
from functools import partial
from importlib.metadata import version
from pathlib import Path

from mtl.commands.job_settings import Commands

SCORERS = ("mteb", "datasets", "sentence-transformers")  # mteb needs the others


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

    encode = commands.add_parser("encode", help="write sentence vectors")
    encode.add_argument(
        "encoder", metavar="ENCODER", help="a run's folder, average (the mean of word vectors) or transformer"
    )
    encode.add_argument("file", type=Path, metavar="FILE", help="one text per line; -: standard input")
    encode.add_argument("settings", nargs="*", metavar="key=value", help="docs/reference/other-settings.md lists them")
    encode.add_argument("--seed", type=int, help="the same as seed=")
    encode.add_argument("--out", type=Path, required=True, metavar="VECTORS", help="a .npy or .parquet file")
    encode.add_argument("--device", help="the same as device=")
    encode.set_defaults(run=_encode)

    export = commands.add_parser("export", help="write a run's encoder in the form of another program")
    export.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a finished run")
    export.add_argument("settings", nargs="*", metavar="key=value", help="docs/how-to/export.md lists them")
    export.add_argument("--format", required=True, help="sentence-transformers, onnx, vectors or transformers")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    export.set_defaults(run=_export)

    mteb = commands.add_parser("mteb", help="score sentence vectors on a benchmark of mteb's tasks, with mteb itself")
    mteb.add_argument(
        "encoder", metavar="ENCODER", help="a run's folder, average (averaged word vectors) or transformer"
    )
    mteb.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="tasks=[NAME,…], data_dir=FOLDER, benchmark=NAME (else pl-mteb); others: docs/reference/other-settings.md",
    )
    mteb.set_defaults(run=_mteb)


def _add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, or auto: a GPU if there is one")


def _predict(arguments: argparse.Namespace) -> None:
    from mtl.encoders.run import Predictor

    predictor = Predictor.load(arguments.run_dir, arguments.seed, arguments.task, arguments.device)
    predictor.predict_file(arguments.task, arguments.file, arguments.out)


def _encode(arguments: argparse.Namespace) -> None:
    from mtl.encoders import open_encoder
    from mtl.encoders.files import check_vectors_file, encode_file
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    options = {"seed": arguments.seed, "device": arguments.device}
    settings |= {key: value for key, value in options.items() if value is not None}
    check_vectors_file(arguments.out)
    encode_file(open_encoder(arguments.encoder, settings), arguments.file, arguments.out)


def _export(arguments: argparse.Namespace) -> None:
    from mtl.export.export import export_run
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    export_run(arguments.run_dir, arguments.out, arguments.format, settings, arguments.command)
    print(arguments.out)


def _mteb(arguments: argparse.Namespace) -> None:
    from mtl.base.device import describe_device, device_of
    from mtl.base.extras import check_installed
    from mtl.encoders import encoder_kind
    from mtl.jobs.job import parse_settings
    from mtl.jobs.seed import versions
    from mtl.mteb.run import run_mteb

    check_installed("mteb")  # before minutes of loading
    given, name = parse_settings(arguments.settings), arguments.encoder
    kind = encoder_kind(name)
    about = {
        "command": arguments.command,
        "versions": versions() | {package: version(package) for package in SCORERS},
        "machine": describe_device(device_of(str(given.get("device", "cpu")), "device")),
    }
    folder = run_mteb(partial(kind.open, name), kind.choices(), given, about)
    print(folder.table.read_text(encoding="utf-8"))
    print(folder.table)
