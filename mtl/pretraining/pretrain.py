"""A whole pre-training: vocabulary, tokens, training, output; each part is kept until the next one is complete."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import torch

from mtl.device import exact_arithmetic
from mtl.errors import InputError
from mtl.files import check_new_folder, check_space, replacing, write_json
from mtl.locks import waiting_lock
from mtl.pretraining.library import import_transformers, library_versions
from mtl.pretraining.settings import PretrainingSettings
from mtl.pretraining.texts import PretrainingTexts
from mtl.resumable import check_claim, claim_of
from mtl.untrusted import read_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from mtl.pretraining.tokens import Tokens
    from mtl.pretraining.training import MaskedLanguageModelling

logger = logging.getLogger("mtl")

CPU = torch.device("cpu")
CLAIM, CHECKPOINT, VOCABULARY = "claim.json", "last.ckpt", "tokenizer.json"
COPIES = 28  # bytes of a parameter: weights and Adam's two moments in the checkpoint and its successor, and the weights of the output


@exact_arithmetic()
def pretrain(texts: PretrainingTexts, settings: PretrainingSettings, out: Path, device: torch.device = CPU) -> None:
    """Learn a vocabulary, train a BERT and write it to the folder `out`, where transformers loads it. A finished one remains as it is.

    Until then, all is in `{out}.unfinished`. A training that was interrupted continues there from its last checkpoint if the texts and
    the settings are the same.
    Raises InputError for bad texts, too little text or disk space, an `out` that is not empty, and another training's unfinished folder;
    DivergedError if the training diverges, in which case the last good checkpoint remains.
    """
    texts.check()
    import_transformers()
    if not is_finished(out, texts, settings):
        check_new_folder(out)
    unfinished = unfinished_folder(out)
    with (
        waiting_lock(unfinished / ".lock", f"{unfinished}: another process is training this model"),
        _threads(settings.threads),
    ):
        if not is_finished(out, texts, settings):
            _start(unfinished, texts, settings)
            try:
                _train(texts, settings, out, unfinished, device)
            except InputError:
                if not (unfinished / CHECKPOINT).exists():
                    shutil.rmtree(unfinished, ignore_errors=True)
                raise
        shutil.rmtree(unfinished, ignore_errors=True)


def unfinished_folder(out: Path) -> Path:
    """The folder of a training that has not finished."""
    place = out.resolve()
    return place.with_name(f"{place.name}.unfinished")


def is_finished(out: Path, texts: PretrainingTexts, settings: PretrainingSettings) -> bool:
    """Whether the folder holds a model that was trained on these texts with these settings; the number of threads may differ."""
    from mtl.pretraining.output import LOG

    if not (out / LOG).is_file():
        return False
    log = read_json(out / LOG, _Log, "name another folder with out=")
    trained = log["settings"]
    same = {**asdict(settings), "threads": trained.get("threads")} == trained
    return same and bool(log["fingerprint"] == texts.fingerprint)


class _Log(TypedDict):
    """What is read of a training's log."""

    settings: dict[str, Any]
    fingerprint: str


def _start(unfinished: Path, texts: PretrainingTexts, settings: PretrainingSettings) -> None:
    """Claim the folder. What another training left is removed if it has no checkpoint. Raises InputError if it has one."""
    claim = unfinished / CLAIM
    training = {**claim_of(settings, texts.fingerprint), **library_versions()}
    if (unfinished / CHECKPOINT).exists():
        check_claim(claim, training)
    elif not claim.exists() or read_json(claim, dict[str, Any], f"delete {unfinished}") != training:
        for name in [path for path in unfinished.iterdir() if path.name != ".lock"]:
            name.unlink()
        write_json(claim, training)


def _train(
    texts: PretrainingTexts, settings: PretrainingSettings, out: Path, unfinished: Path, device: torch.device
) -> None:
    from mtl.pretraining.network import parameter_count
    from mtl.pretraining.output import training_log, write_model
    from mtl.pretraining.vocabulary import portable_tokenizer

    parameters = parameter_count(settings)
    if not (unfinished / CHECKPOINT).exists():
        check_space(unfinished, parameters * COPIES + texts.size, "name another disk with out=")
    tokenizer = _tokenizer(texts, settings, unfinished)
    tokens = _tokens(texts, settings, tokenizer, unfinished)
    training = _training(tokens, tokenizer, settings, unfinished, device)
    held_out, chosen = len(training.held_out), len(training.chosen)
    figures = {
        "vocabulary": tokenizer.get_vocab_size(),
        "parameters": sum(parameter.numel() for parameter in training.bert.parameters()),
        "documents": len(tokens.ends),
        "tokens": tokens.count,
        "segments": {"trained": chosen, "held_out": held_out},
    }
    logger.info(
        "%s: %s parameters, vocabulary of %s; %s documents, %s tokens, %s segments, %s of them held out",
        out,
        *(f"{figures[key]:,}" for key in ("parameters", "vocabulary", "documents", "tokens")),
        *(f"{held_out + chosen:,}", f"{held_out:,}"),
    )
    training.run(str(out))
    log = training_log(settings, texts, figures, training.perplexities)
    write_model(out, training.bert, portable_tokenizer(tokenizer, settings.max_length), log, texts.language)


def _tokenizer(texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path) -> "Tokenizer":
    """The tokenizer in the folder; it is learnt first if it is not there. Raises InputError if it is damaged."""
    from tokenizers import Tokenizer

    from mtl.pretraining.vocabulary import learn_tokenizer

    path = unfinished / VOCABULARY
    if not path.exists():
        learnt = learn_tokenizer(
            texts.lines("counting characters of"), texts.lines("learning a vocabulary from"), settings
        )
        with replacing(path) as partial:
            learnt.save(str(partial))
    try:
        return Tokenizer.from_file(str(path))
    except Exception:  # the library raises no narrower class
        raise InputError(f"{path}: is damaged; delete it, and run this again") from None


def _tokens(
    texts: PretrainingTexts, settings: PretrainingSettings, tokenizer: "Tokenizer", unfinished: Path
) -> "Tokens":
    """The tokens in the folder; they are written first if they are not there."""
    from mtl.pretraining.tokens import ENDS, read_tokens, write_tokens

    if not (unfinished / ENDS).exists():
        write_tokens(texts.by_document(settings.documents, "tokenizing"), tokenizer, settings.min_tokens, unfinished)
    return read_tokens(unfinished, tokenizer.get_vocab_size())


def _training(
    tokens: "Tokens", tokenizer: "Tokenizer", settings: PretrainingSettings, unfinished: Path, device: torch.device
) -> "MaskedLanguageModelling":
    from mtl.pretraining.masking import Masking
    from mtl.pretraining.network import new_bert
    from mtl.pretraining.tokens import CUTS
    from mtl.pretraining.training import MaskedLanguageModelling
    from mtl.pretraining.vocabulary import MASK, word_beginnings

    begins = word_beginnings(tokenizer)
    return MaskedLanguageModelling(
        new_bert(settings, len(begins)),
        CUTS[settings.segments](tokens, settings.chunk),
        Masking(begins, settings.mask_share, settings.whole_words, MASK),
        settings,
        unfinished / CHECKPOINT,
        device,
    )


@contextmanager
def _threads(threads: int) -> Iterator[None]:
    """Within the block, torch uses this number of threads; 0: as before."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads or before)
        yield
    finally:
        torch.set_num_threads(before)
