"""A whole pre-training: vocabulary, tokens, training, and the folder that transformers loads; each part is kept until the next is complete."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from mtl.base.device import exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.extras import check_installed, import_transformers, library_versions
from mtl.base.files import replacing, write_json, write_text
from mtl.base.folders import new_folder
from mtl.base.log import logger
from mtl.base.version import VERSION
from mtl.base.wording import escaped
from mtl.vectors.pretraining.resumable import FORMAT, train_once
from mtl.vectors.pretraining.settings import PretrainingSettings, read_settings
from mtl.vectors.pretraining.tokens import ENDS, PretrainingTexts, Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.training import MaskedLanguageModelling, new_bert
from mtl.vectors.pretraining.vocabulary import learn_tokenizer, portable_tokenizer, word_beginnings

LOG, VOCABULARY = "training.json", "tokenizer.json"
CARD = Path(__file__).with_name("card.md")
CPU = torch.device("cpu")


@exact_arithmetic()
def pretrain(texts: PretrainingTexts, settings: PretrainingSettings, out: Path, device: torch.device = CPU) -> None:
    """Learn a vocabulary, train a BERT as `train_once` says, and write it to the new folder `out` for transformers.
    Raises InputError for bad texts or too little text; DivergedError if it diverges: the last good checkpoint remains."""
    texts.check()
    import_transformers()
    train_in = partial(_train_and_write, texts, settings, out, device)
    train_once(out, settings, texts.fingerprint, train_in, **library_versions())


def _train_and_write(
    texts: PretrainingTexts, settings: PretrainingSettings, out: Path, device: torch.device, unfinished: Path
) -> None:
    """Train with the files in the folder `unfinished`, then write the model, its tokenizer, its log and its card to `out`."""
    tokenizer, training = begin_training(texts, settings, unfinished, device)
    segments, held_out = training.segments, len(training.held_out)
    figures = {
        "vocabulary": tokenizer.get_vocab_size(),
        "parameters": sum(parameter.numel() for parameter in training.network.parameters()),
        "documents": segments.documents,
        "tokens": segments.tokens,
    }
    figures_text = "{parameters:,} parameters, vocabulary of {vocabulary:,}; {documents:,} documents, {tokens:,} tokens"
    segment_counts = f"{len(segments):,} segments, {held_out:,} of them held out"
    logger.info("%s: %s, %s", out, figures_text.format(**figures), segment_counts)
    training.run(str(out))
    last = training.curve[-1]
    log = {
        "settings": asdict(settings),
        "texts": [path.name for path in texts.files] + ([texts.source or "texts"] if texts.texts else []),
        "vocabulary_texts": [path.name for path in texts.vocabulary],
        "fingerprint": texts.fingerprint,
        **figures,
        "segments": {"trained": len(training.trained), "held_out": held_out},
        "steps": int(last["step"]),
        "seconds": last["seconds"],
        "versions": {"mtl": VERSION, **{name: version(name) for name in ("torch", "transformers", "tokenizers")}},
        "validations": training.curve,
    }
    with new_folder(out) as folder:
        training.network.to("cpu").save_pretrained(folder)
        portable_tokenizer(tokenizer, settings.max_length).save_pretrained(folder)
        for weights in folder.glob("*.safetensors"):  # which safetensors makes readable by their owner alone
            weights.chmod((folder / "config.json").stat().st_mode)
        write_json(folder / LOG, log)
        write_text(folder / "README.md", _model_card(log, texts.language))


def begin_training(
    texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path, device: torch.device
) -> tuple[Tokenizer, MaskedLanguageModelling]:
    """The tokenizer of the texts and the training on them, kept in `unfinished`. Raises InputError for damaged files."""
    path = unfinished / VOCABULARY
    if not path.exists():
        lines, same_lines = texts.lines("counting characters of"), texts.lines("learning a vocabulary from")
        learnt = learn_tokenizer(lines, same_lines, settings)
        with replacing(path) as written:
            learnt.save(str(written))
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # the library raises no narrower class
        raise InputError("is damaged; delete it, and run this again", path=path) from None
    if not (unfinished / ENDS).exists():
        write_tokens(texts.by_document(settings.documents, "tokenizing"), tokenizer, settings.min_tokens, unfinished)
    begins, segments = word_beginnings(tokenizer), Segments(*read_tokens(unfinished), settings.chunk)
    bert = new_bert(settings, len(begins)).to(device)
    return tokenizer, MaskedLanguageModelling(bert, segments, begins, settings, unfinished)


def _model_card(log: dict[str, Any], language: str | None) -> str:
    """The model's README, with the metadata that model hubs read, from the content of LOG."""
    values = {key: log[key] for key in ("parameters", "tokens", "vocabulary")} | log["validations"][-1]
    values["language"] = f'language: "{language}"\n' if language else ""
    values["texts"] = escaped(", ".join(log["texts"]))
    values["learnt"] = escaped(", ".join(log["vocabulary_texts"])) or "the same text"
    return CARD.read_text(encoding="utf-8").format(**values)


def trained_body(texts: Sequence[str], language: str, folder: Path, settings_name: str = "tiny") -> Path:
    """The folder of a small BERT trained on these texts, which is trained first if it is not there. Its name below `folder`
    has a hash of the texts, the settings (a file in configs/pretrain, or a path) and the software. A training that was
    interrupted continues; a second process waits. Raises InputError without transformers, and as `pretrain`."""
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
