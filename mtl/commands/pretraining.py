"""Commands about transformers that are trained here."""

import argparse

from mtl.commands.job_settings import Commands


def add_pretraining(commands: Commands) -> None:
    """Commands about transformers that are trained here."""
    pretrain = commands.add_parser("pretrain", help="pre-train a model on text files and on a suite's training text")
    models = pretrain.add_subparsers(metavar="MODEL", required=True)
    transformer = models.add_parser("transformer", help="a BERT, by masked language modelling")
    transformer.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="out=DIR, texts=[FILE,…], suite=NAME (with data_dir=), config=NAME (else small), and what docs/pretraining.md lists",
    )
    transformer.set_defaults(run=_transformer)


def _transformer(arguments: argparse.Namespace) -> None:
    from mtl.jobs.job import parse_settings
    from mtl.jobs.pretraining import pretrain_transformer
    from mtl.jobs.training_text import TrainingText, string

    given = parse_settings(arguments.settings)
    text = TrainingText.take(given)
    out, config = string(given.pop("out", None)), str(given.pop("config", "small"))
    accelerator = str(given.pop("accelerator", "auto"))
    print(pretrain_transformer(text, given, out, config, accelerator))
