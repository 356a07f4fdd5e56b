"""The commands of this wing: vectors of texts, their evaluation, exports, and pre-training."""

import argparse
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mtl.api.commands.job_settings import Commands, add_command
from mtl.base.extras import check_installed
from mtl.base.wings import lazy

SCORERS = ("mteb", "datasets", "sentence-transformers")  # mteb needs the others
parse_settings = lazy("mtl.jobs.job:parse_settings")


def add_commands(commands: Commands) -> None:
    """Add the commands of this wing but `mtl embeddings train`, as `mtl.api.cli.add_commands` adds those of the core."""
    add = partial(add_command, commands)
    key_values: dict[str, Any] = {"nargs": "*", "metavar": "key=value"}
    pretrain = commands.add_parser("pretrain", help="pre-train a model on text files and on a suite's training text")
    models = pretrain.add_subparsers(metavar="MODEL", required=True)
    transformer = add_command(models, "transformer", _pretrain_transformer, "a BERT, by masked language modelling")
    keys = "out=DIR, texts=[FILE,…], suite=NAME (with data_dir=), vocabulary_texts=[FILE,…], config=NAME (else small)"
    transformer.add_argument("settings", help=f"{keys}; others: docs/reference/other-settings.md", **key_values)

    encode = add("encode", _encode, "write sentence vectors")
    encoders = "a run's folder, average (the mean of word vectors), transformer or sentence_transformer"
    encode.add_argument("encoder", metavar="ENCODER", help=encoders)
    encode.add_argument("file", type=Path, metavar="FILE", help="one text per line; -: standard input")
    encode.add_argument("settings", help="docs/reference/other-settings.md lists them", **key_values)
    encode.add_argument("--out", type=Path, required=True, metavar="VECTORS", help="a .npy file")

    export = add("export", _export, "write a run's encoder in the form of another program")
    export.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a finished run")
    export.add_argument("settings", help="docs/how-to/export.md lists them", **key_values)
    export.add_argument("--format", required=True, help="sentence-transformers or vectors")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")

    mteb = add("mteb", _mteb, "score sentence vectors on a benchmark of mteb's tasks, with mteb itself")
    mteb.add_argument("encoder", metavar="ENCODER", help=encoders)
    keys = "tasks=[NAME,…], data_dir=FOLDER, benchmark=NAME (else pl-mteb)"
    mteb.add_argument("settings", help=f"{keys}; others: docs/reference/other-settings.md", **key_values)


def add_embeddings_train(actions: Commands) -> None:
    """Add `mtl embeddings train`, beside the other actions of `mtl embeddings`, which are the core's."""
    text = "train word vectors or an ELMo on text files and on a suite's training text"
    train = add_command(actions, "train", _train_embeddings, text)
    train.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext, word2vec or elmo")
    keys = "out=PATH, texts=[FILE,…], suite=NAME (with data_dir=), language=CODE without a suite; others: docs/reference/other-settings.md"
    train.add_argument("settings", nargs="*", metavar="key=value", help=keys)


def _train_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.vectors.words.request import TrainingRequest
    from mtl.vectors.words.training import train_embeddings

    settings = parse_settings(arguments.settings)
    print(train_embeddings(arguments.embeddings, TrainingRequest.take(settings), settings))


def _pretrain_transformer(arguments: argparse.Namespace) -> None:
    from mtl.base.device import device_of
    from mtl.data.loading import training_texts
    from mtl.vectors.pretraining.settings import read_settings
    from mtl.vectors.words.request import TrainingRequest

    settings = parse_settings(arguments.settings)
    request = TrainingRequest.take(settings)
    out = request.checked_path("pretrain transformer")
    value = settings.pop("vocabulary_texts", None)
    names = value if isinstance(value, list) else [value]
    vocabulary = [Path(str(name)) for name in names if name is not None]
    files = list(map(Path, request.texts or ()))
    pretraining_settings = read_settings(str(settings.pop("config", "small")), settings)
    check_installed("transformers")  # like all checks above, before slow imports
    from mtl.vectors.pretraining.pretrain import pretrain
    from mtl.vectors.pretraining.tokens import PretrainingTexts

    device = device_of(request.accelerator, "accelerator")
    job = request.job()
    if job is None:
        texts = PretrainingTexts(files, language=request.language, vocabulary=vocabulary)
    else:
        suite_texts = training_texts(job.suite, job.data_dir, job.config.held_out)
        source = f"training texts of suite {job.suite.name}"
        texts = PretrainingTexts(files, suite_texts, job.suite.language, source, vocabulary)
    pretrain(texts, pretraining_settings, out, device)
    print(out)


def _encode(arguments: argparse.Namespace) -> None:
    from mtl.vectors.encoders import open_encoder
    from mtl.vectors.encoders.files import check_vectors_file, encode_file

    settings = parse_settings(arguments.settings)
    check_vectors_file(arguments.out)
    encode_file(open_encoder(arguments.encoder, settings), arguments.file, arguments.out)


def _export(arguments: argparse.Namespace) -> None:
    from mtl.vectors.export.export import export_run

    settings = parse_settings(arguments.settings)
    export_run(arguments.run_dir, arguments.out, arguments.format, settings, arguments.command)
    print(arguments.out)


def _mteb(arguments: argparse.Namespace) -> None:
    from mtl.base.device import describe_device, device_of
    from mtl.base.version import versions
    from mtl.vectors.encoders import open_encoder
    from mtl.vectors.mteb.run import run_mteb

    check_installed("mteb")  # before minutes of loading
    settings = parse_settings(arguments.settings)
    about = {
        "command": arguments.command,
        "versions": versions() | {package: version(package) for package in SCORERS},
        "machine": describe_device(device_of(str(settings.get("device", "cpu")), "device")),
    }
    folder = run_mteb(partial(open_encoder, arguments.encoder), settings, about)
    print(folder.table.read_text(encoding="utf-8"))
    print(folder.table)
