"""The folder of a finished pre-training, which transformers loads: the model, its tokenizer, the log of its training and a model card."""

from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from tokenizers import Tokenizer

from mtl.base.files import write_json, write_text
from mtl.base.folders import new_folder
from mtl.base.version import VERSION
from mtl.base.wording import escaped
from mtl.vectors.pretraining.tokens import PretrainingTexts
from mtl.vectors.pretraining.training import MaskedLanguageModelling
from mtl.vectors.pretraining.vocabulary import portable_tokenizer

LOG = "training.json"
CARD = Path(__file__).with_name("card.md")


def size_figures(tokenizer: Tokenizer, training: MaskedLanguageModelling) -> dict[str, int]:
    """How large the model and its texts are, for the log and the card."""
    return {
        "vocabulary": tokenizer.get_vocab_size(),
        "parameters": sum(parameter.numel() for parameter in training.network.parameters()),
        "documents": training.segments.documents,
        "tokens": training.segments.tokens,
    }


def write_finished(out: Path, texts: PretrainingTexts, tokenizer: Tokenizer, training: MaskedLanguageModelling) -> None:
    """Write the trained model, its tokenizer, its log and its card to the new folder `out`."""
    settings, last = training.settings, training.curve[-1]
    figures = size_figures(tokenizer, training)
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
