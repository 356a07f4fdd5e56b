"""A whole pre-training: vocabulary, tokens, training, and the folder that transformers loads; each part is kept until the next is complete."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import torch
from tokenizers import Tokenizer

from mtl.base.device import exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.extras import check_installed, import_transformers, library_versions
from mtl.base.files import replacing
from mtl.base.log import logger
from mtl.vectors.pretraining.finished import size_figures, write_finished
from mtl.vectors.pretraining.network import new_bert
from mtl.vectors.pretraining.settings import PretrainingSettings, read_settings
from mtl.vectors.pretraining.tokens import ENDS, PretrainingTexts, Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.training import MaskedLanguageModelling
from mtl.vectors.pretraining.unfinished import FORMAT, train_once
from mtl.vectors.pretraining.vocabulary import learn_tokenizer, word_beginnings

VOCABULARY = "tokenizer.json"
CPU = torch.device("cpu")


@exact_arithmetic()
def pretrain(texts: PretrainingTexts, settings: PretrainingSettings, out: Path, device: torch.device = CPU) -> None:
    """Learn a vocabulary, train a BERT as `train_once` says, and write it to the new folder `out` for transformers.
    Raises InputError for bad texts or too little text; DivergedError if it diverges: the last good checkpoint remains."""
    texts.check()
    import_transformers()

    def train_in(unfinished: Path) -> None:
        tokenizer, training = begin_training(texts, settings, unfinished, device)
        numbers = {name: f"{number:,}" for name, number in size_figures(tokenizer, training).items()}
        model = f"{numbers['parameters']} parameters, vocabulary of {numbers['vocabulary']}"
        text = f"{numbers['documents']} documents, {numbers['tokens']} tokens"
        segments = f"{len(training.segments):,} segments, {len(training.held_out_parts):,} of them held out"
        logger.info("%s: %s; %s, %s", out, model, text, segments)
        training.run(str(out))
        write_finished(out, texts, tokenizer, training)

    train_once(out, settings, texts.fingerprint, train_in, **library_versions())


def begin_training(
    texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path, device: torch.device
) -> tuple[Tokenizer, MaskedLanguageModelling]:
    """The tokenizer of the texts and the training on them, kept in `unfinished`. Raises InputError for damaged files."""
    tokenizer = _kept_tokenizer(texts, settings, unfinished / VOCABULARY)
    if not (unfinished / ENDS).exists():
        write_tokens(texts.by_document(settings.documents, "tokenizing"), tokenizer, settings.min_tokens, unfinished)
    segments = Segments(*read_tokens(unfinished), settings.chunk)
    begins = word_beginnings(tokenizer)
    bert = new_bert(settings, len(begins)).to(device)
    return tokenizer, MaskedLanguageModelling(bert, segments, begins, settings, unfinished)


def _kept_tokenizer(texts: PretrainingTexts, settings: PretrainingSettings, path: Path) -> Tokenizer:
    """The tokenizer in a file, which is learnt from the texts first if it is not there. Raises InputError for a damaged file."""
    if not path.exists():
        lines = texts.lines("counting characters of")
        same_lines = texts.lines("learning a vocabulary from")  # read again: they may not fit into memory
        learnt = learn_tokenizer(lines, same_lines, settings)
        with replacing(path) as partial:
            learnt.save(str(partial))
    try:
        return Tokenizer.from_file(str(path))
    except Exception:  # the library raises no narrower class
        raise InputError("is damaged; delete it, and run this again", path=path) from None


def trained_body(texts: Sequence[str], language: str, folder: Path, settings_name: str = "tiny") -> Path:
    """The folder of a small BERT trained on these texts, which is trained first if it is not there; a second process waits. Its name has a hash of
    the texts, the settings (a file in configs/pretrain, or a path) and the software. Raises InputError without transformers, and as `pretrain`."""
    check_installed("transformers")
    settings = read_settings(settings_name, {})
    source = PretrainingTexts(texts=texts, language=language, source="training texts of a suite")
    software = {**library_versions(), "torch": version("torch"), "format": FORMAT}
    key = json.dumps([asdict(settings), source.fingerprint, software], sort_keys=True)
    body = folder / f"bert-{Path(settings_name).stem}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if not body.is_dir():
        logger.info("training %s on the suite's training text", body)
        try:
            pretrain(source, settings, body)
        except InputError as error:
            if not body.is_dir():  # no other process has trained it meanwhile
                problem = f"no transformer is named, and training one fails: {error}"
                raise InputError(f"{problem}; or name one with transformer.path=") from None
    return body
