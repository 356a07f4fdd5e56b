"""Commands about word embeddings."""

import argparse

from mtl.commands.job_settings import Commands


def add_embeddings(commands: Commands) -> None:
    """Commands about word embeddings."""
    embeddings = commands.add_parser("embeddings", help="train or fetch word embeddings")
    actions = embeddings.add_subparsers(metavar="ACTION", required=True)
    train = actions.add_parser(
        "train", help="train fastText vectors or an ELMo on text files and on a suite's training text"
    )
    train.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext or elmo")
    train.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="out=PATH, texts=[FILE,…], suite=NAME (with data_dir=), language=CODE without a suite, and what docs/embeddings.md lists",
    )
    train.set_defaults(run=_train_embeddings)
    fetch = actions.add_parser("fetch", help="download pretrained vectors")
    fetch.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext")
    fetch.add_argument(
        "settings", nargs="*", metavar="key=value", help="recipe=NAME (a file in embeddings/), embeddings_dir=FOLDER"
    )
    fetch.set_defaults(run=_fetch_embeddings)


def _train_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.jobs.embeddings import train_embeddings
    from mtl.jobs.job import parse_settings
    from mtl.jobs.training_text import TrainingText, string

    given = parse_settings(arguments.settings)
    text = TrainingText.take(given)
    out, accelerator = string(given.pop("out", None)), str(given.pop("accelerator", "auto"))
    print(train_embeddings(arguments.embeddings, text, given, out, accelerator))


def _fetch_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.config.settings import check_known
    from mtl.jobs.embeddings import fetch_embeddings
    from mtl.jobs.job import parse_settings

    given = parse_settings(arguments.settings)
    check_known(given, {"recipe", "embeddings_dir"})
    print(fetch_embeddings(arguments.embeddings, **{key: str(value) for key, value in given.items()}))
