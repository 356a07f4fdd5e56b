"""A whole pre-training: vocabulary, tokens, training, and the folder that transformers loads. Each part is kept until the next one is
complete. `own_body` is the small BERT of a suite for which no transformer is named."""

import hashlib
import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict

import torch
from tokenizers import Tokenizer

from mtl.base.clock import format_duration
from mtl.base.device import exact_arithmetic, threads_of_torch
from mtl.base.errors import InputError
from mtl.base.extras import check_installed, import_transformers, library_versions
from mtl.base.files import check_space, replacing, write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.locks import waiting_lock
from mtl.base.untrusted import read_json
from mtl.base.version import VERSION
from mtl.vectors.pretraining.resumable import FORMAT, check_claim, check_claimed, claim_of
from mtl.vectors.pretraining.settings import PretrainingSettings, read_settings
from mtl.vectors.pretraining.tokens import (
    ENDS,
    PretrainingTexts,
    Segments,
    Tokens,
    learn_tokenizer,
    portable_tokenizer,
    read_tokens,
    word_beginnings,
    write_tokens,
)
from mtl.vectors.pretraining.training import MASK_SHARE, MaskedLanguageModelling, new_bert, parameter_count

LOG = "training.json"
CARD = """---
{language}library_name: transformers
pipeline_tag: fill-mask
mask_token: "[MASK]"
tags: [mtl]
---

# A BERT trained by masked language modelling

| | |
|---|---|
{rows}

Trained with mtl {version}. It has no pooled output: train one with a task's head, or use the mean of the last layer's vectors.
`training.json` has all settings and the held-out figures during the training. The text decides which licence applies to the weights,
and which errors and prejudices they carry.

```python
from transformers import AutoModelForMaskedLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("FOLDER")
model = AutoModelForMaskedLM.from_pretrained("FOLDER")
```
"""

logger = logging.getLogger("mtl")
CPU = torch.device("cpu")
COPIES = 28  # bytes of a parameter: weights and Adam's two moments in the checkpoint and its successor, and the weights of the output


def model_card(log: dict[str, Any], language: str | None) -> str:
    """The README of the folder, with the metadata that model hubs read."""
    settings, last = log["settings"], log["validations"][-1]
    facts = {
        "text": ", ".join(log["texts"]),
        "tokens": f"{log['tokens']:,} in {log['documents']:,} documents",
        "vocabulary": f"{log['vocabulary']:,} entries, {settings['vocabulary']}, learnt on {', '.join(log['vocabulary_texts']) or 'the same text'}",
        "layers": f"{settings['num_layers']} of {settings['hidden_size']}, {settings['num_heads']} heads",
        "parameters": f"{log['parameters']:,}",
        "longest input": f"{settings['max_length']} tokens",
        "masks": f"{MASK_SHARE:.0%} of the tokens, whole words",
        "training": f"{log['steps']:,} steps of {settings['batch_size']} segments in {format_duration(log['seconds'])}",
        "highest learning rate": f"{settings['learning_rate']:g}",
        "held-out perplexity of masked tokens": f"{last['perplexity']:.2f}",
        "held-out masked tokens predicted right": f"{last['accuracy']:.1f} %",
    }
    rows = "\n".join(f"| {name} | {value.replace('|', chr(92) + '|')} |" for name, value in facts.items())
    said = f'language: "{language}"\n' if language else ""
    return CARD.format(language=said, rows=rows, version=log["versions"]["mtl"])


CLAIM, CHECKPOINT, VOCABULARY = "claim.json", "last.ckpt", "tokenizer.json"


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
        threads_of_torch(settings.threads),
    ):
        check_claimed(unfinished / CLAIM)
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
    resolved = out.resolve()
    return resolved.with_name(f"{resolved.name}.unfinished")


def is_finished(out: Path, texts: PretrainingTexts, settings: PretrainingSettings) -> bool:
    """Whether the folder holds a model that was trained on these texts with these settings; the number of threads may differ."""
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
        for name in [path for path in unfinished.iterdir() if path.name not in (".lock", CLAIM)]:
            name.unlink()
        write_json(claim, training)  # last: files of another training never have it


def _train(
    texts: PretrainingTexts, settings: PretrainingSettings, out: Path, unfinished: Path, device: torch.device
) -> None:
    parameters = parameter_count(settings)
    if not (unfinished / CHECKPOINT).exists():
        check_space(unfinished, parameters * COPIES + texts.size, "name another disk with out=")
    tokenizer, tokens, training = begin_training(texts, settings, unfinished, device)
    held_out, segments = len(training.held_out), len(training.chosen)
    figures = {
        "vocabulary": tokenizer.get_vocab_size(),
        "parameters": sum(parameter.numel() for parameter in training.network.parameters()),
        "documents": len(tokens.ends),
        "tokens": tokens.count,
        "segments": {"trained": segments, "held_out": held_out},
    }
    logger.info(
        "%s: %s parameters, vocabulary of %s; %s documents, %s tokens, %s segments, %s of them held out",
        out,
        *(f"{figures[key]:,}" for key in ("parameters", "vocabulary", "documents", "tokens")),
        *(f"{held_out + segments:,}", f"{held_out:,}"),
    )
    training.run(str(out))
    last = training.curve[-1]
    log = {
        "settings": asdict(settings),
        "texts": texts.described(),
        "vocabulary_texts": [path.name for path in texts.vocabulary],
        "fingerprint": texts.fingerprint,
        **figures,
        "steps": int(last["step"]),
        "seconds": last["seconds"],
        "versions": {"mtl": VERSION, **{name: version(name) for name in ("torch", "transformers", "tokenizers")}},
        "validations": training.curve,
    }
    with new_folder(out) as partial:
        training.network.to("cpu").save_pretrained(partial)
        portable_tokenizer(tokenizer, settings.max_length).save_pretrained(partial)
        for weights in partial.glob("*.safetensors"):  # which safetensors makes readable by their owner alone
            weights.chmod((partial / "config.json").stat().st_mode)
        write_json(partial / LOG, log)
        write_text(partial / "README.md", model_card(log, texts.language))


def begin_training(
    texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path, device: torch.device
) -> tuple[Tokenizer, Tokens, MaskedLanguageModelling]:
    """The tokenizer and the tokens of the texts, which are kept in the folder of the unfinished training, and the training on them."""
    tokenizer = _tokenizer(texts, settings, unfinished)
    if not (unfinished / ENDS).exists():
        write_tokens(texts.by_document(settings.documents, "tokenizing"), tokenizer, settings.min_tokens, unfinished)
    tokens, begins = read_tokens(unfinished, tokenizer.get_vocab_size()), word_beginnings(tokenizer)
    training = MaskedLanguageModelling(
        new_bert(settings, len(begins)),
        Segments(tokens, settings.chunk),
        begins,
        settings,
        unfinished / CHECKPOINT,
        device,
    )
    return tokenizer, tokens, training


def _tokenizer(texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path) -> Tokenizer:
    """The tokenizer in the folder; it is learnt first if it is not there. Raises InputError if it is damaged."""
    path = unfinished / VOCABULARY
    if not path.exists():
        lines, again = (texts.lines(title) for title in ("counting characters of", "learning a vocabulary from"))
        learnt = learn_tokenizer(lines, again, settings)
        with replacing(path) as partial:
            learnt.save(str(partial))
    try:
        return Tokenizer.from_file(str(path))
    except Exception:  # the library raises no narrower class
        raise InputError("is damaged; delete it, and run this again", path=path) from None


def own_body(texts: Sequence[str], language: str, folder: Path, settings_name: str = "tiny") -> Path:
    """The folder of a small BERT that was trained on these texts; it is trained first if it is not there.

    It is a folder below `folder`, whose name has a hash of the texts, the settings (a file in configs/pretrain, or a path) and the software.
    A training that was interrupted continues; a second process waits. Raises InputError if transformers is not installed, and as `pretrain`.
    """
    check_installed("transformers")
    settings = read_settings(settings_name, {})
    source = PretrainingTexts(texts=texts, language=language, source="training texts of a suite")
    software = {**library_versions(), "torch": version("torch"), "format": FORMAT}
    key = json.dumps([asdict(settings), source.fingerprint, software], sort_keys=True)
    name = f"bert-{Path(settings_name).stem}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if not (folder / name).is_dir():
        logger.info("training %s on the suite's training text", folder / name)
        try:
            pretrain(source, settings, folder / name)
        except InputError as error:
            message = f"no transformer is named, and training one fails: {error}; or name one with transformer.path="
            raise InputError(message) from None
    return folder / name
