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
from mtl.base.files import replacing, write_json, write_text
from mtl.base.folders import new_folder
from mtl.base.log import logger
from mtl.base.version import VERSION
from mtl.base.wording import escaped
from mtl.vectors.pretraining.settings import PretrainingSettings, read_settings
from mtl.vectors.pretraining.tokens import ENDS, PretrainingTexts, Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.training import MaskedLanguageModelling, new_bert
from mtl.vectors.pretraining.unfinished import FORMAT, train_once
from mtl.vectors.pretraining.vocabulary import learn_tokenizer, portable_tokenizer, word_beginnings

LOG, VOCABULARY = "training.json", "tokenizer.json"
CARD = Path(__file__).with_name("card.md")
CPU = torch.device("cpu")


@exact_arithmetic()
def pretrain(texts: PretrainingTexts, settings: PretrainingSettings, out: Path, device: torch.device = CPU) -> None:
    """Train a BERT and its vocabulary, as `train_once` says, and write them to the folder `out`. Raises InputError; DivergedError if it diverges."""
    texts.check()
    import_transformers()

    def train_in(unfinished: Path) -> None:
        tokenizer, training = begin_training(texts, settings, unfinished, device)
        figures = {
            "vocabulary": tokenizer.get_vocab_size(),
            "parameters": sum(parameter.numel() for parameter in training.network.parameters()),
            "documents": training.segments.documents,
            "tokens": training.segments.tokens,
        }
        size = "{parameters:,} parameters, vocabulary of {vocabulary:,}; {documents:,} documents, {tokens:,} tokens"
        segments = "{segments:,} segments, {held_out:,} of them held out"
        counts = {"segments": len(training.segments), "held_out": len(training.held_out_parts)}
        logger.info("%s: %s, %s", out, size.format(**figures), segments.format(**counts))
        training.run(str(out))
        _write_folder(out, texts, tokenizer, training, figures)

    train_once(out, settings, texts.fingerprint, train_in, **library_versions())


def _write_folder(
    out: Path, texts: PretrainingTexts, tokenizer: Tokenizer, training: MaskedLanguageModelling, figures: dict[str, int]
) -> None:
    """Write the trained model, its tokenizer, its log and its card to the new folder `out`. The figures say how large the model and the texts are."""
    settings, last = training.settings, training.curve[-1]
    text_names = [path.name for path in texts.files]
    if texts.texts:
        text_names.append(texts.source or "texts")
    vocabulary_names = [path.name for path in texts.vocabulary]
    log = {
        "settings": asdict(settings),
        "texts": text_names,
        "vocabulary_texts": vocabulary_names,
        "fingerprint": texts.fingerprint,
        **figures,
        "segments": {"trained": len(training.trained_parts), "held_out": len(training.held_out_parts)},
        "steps": int(last["step"]),
        "seconds": last["seconds"],
        "versions": {"mtl": VERSION, **{name: version(name) for name in ("torch", "transformers", "tokenizers")}},
        "validations": training.curve,
    }
    card = CARD.read_text(encoding="utf-8").format(
        language=f'language: "{texts.language}"\n' if texts.language else "",
        texts=escaped(", ".join(text_names)),
        learnt=escaped(", ".join(vocabulary_names)) or "the same text",
        **figures,
        **last,
    )
    with new_folder(out) as folder:
        training.network.to("cpu").save_pretrained(folder)
        portable_tokenizer(tokenizer, settings.max_length).save_pretrained(folder)
        for weights in folder.glob("*.safetensors"):  # which safetensors makes readable by their owner alone
            weights.chmod((folder / "config.json").stat().st_mode)
        write_json(folder / LOG, log)
        write_text(folder / "README.md", card)


def begin_training(
    texts: PretrainingTexts, settings: PretrainingSettings, unfinished: Path, device: torch.device
) -> tuple[Tokenizer, MaskedLanguageModelling]:
    """The tokenizer of the texts and the training on them, kept in `unfinished`. Raises InputError for damaged files."""
    path = unfinished / VOCABULARY
    if not path.exists():
        lines = texts.lines("counting characters of")
        same_lines = texts.lines("learning a vocabulary from")  # read again: they may not fit into memory
        learnt = learn_tokenizer(lines, same_lines, settings)
        with replacing(path) as partial:
            learnt.save(str(partial))
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # the library raises no narrower class
        raise InputError("is damaged; delete it, and run this again", path=path) from None
    if not (unfinished / ENDS).exists():
        write_tokens(texts.by_document(settings.documents, "tokenizing"), tokenizer, settings.min_tokens, unfinished)
    segments = Segments(*read_tokens(unfinished), settings.chunk)
    begins = word_beginnings(tokenizer)
    bert = new_bert(settings, len(begins)).to(device)
    return tokenizer, MaskedLanguageModelling(bert, segments, begins, settings, unfinished)


def trained_body(texts: Sequence[str], language: str, folder: Path, settings_name: str = "tiny") -> Path:
    """The folder of a small BERT trained on these texts, which is trained first if it is not there; a second process waits. Its name has a hash
    of the texts, the settings (a file in configs/pretrain, or a path) and the software. Raises InputError without transformers, and as `pretrain`."""
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
