"""The folder that a finished pre-training leaves: weights, tokenizer, model card, training log."""

from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mtl
from mtl.files import new_folder, write_json, write_text
from mtl.pretraining.settings import PretrainingSettings
from mtl.pretraining.texts import PretrainingTexts
from mtl.progress import format_duration

if TYPE_CHECKING:
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

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


def training_log(
    settings: PretrainingSettings, texts: PretrainingTexts, figures: dict[str, Any], rows: list[dict[str, float]]
) -> dict[str, Any]:
    """What training.json holds. figures: of the text and the model, by name. rows: of the validations."""
    packages = {name: version(name) for name in ("torch", "transformers", "tokenizers")}
    return {
        "settings": asdict(settings),
        "texts": texts.described(),
        "fingerprint": texts.fingerprint,
        **figures,
        "steps": int(rows[-1]["step"]),
        "seconds": rows[-1]["seconds"],
        "versions": {"mtl": mtl.__version__, **packages},
        "validations": rows,
    }


def write_model(
    folder: Path,
    model: "BertForMaskedLM",
    tokenizer: "PreTrainedTokenizerFast",
    log: dict[str, Any],
    language: str | None,
) -> None:
    """Write the folder, which must be new, and move it into its place when it is complete. Raises InputError as `check_new_folder`."""
    with new_folder(folder) as partial:
        model.to("cpu").save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        for weights in partial.glob("*.safetensors"):  # which safetensors makes readable by their owner alone
            weights.chmod((partial / "config.json").stat().st_mode)
        write_json(partial / LOG, log)
        write_text(partial / "README.md", model_card(log, language))


def model_card(log: dict[str, Any], language: str | None) -> str:
    """The README of the folder, with the metadata that model hubs read."""
    settings, last = log["settings"], log["validations"][-1]
    masks = f"{settings['mask_share']:.0%} of the tokens, " + (
        "whole words" if settings["whole_words"] else "single subwords"
    )
    facts = {
        "text": ", ".join(log["texts"]),
        "tokens": f"{log['tokens']:,} in {log['documents']:,} documents",
        "vocabulary": f"{log['vocabulary']:,} entries, {settings['vocabulary']}, learnt on the same text",
        "layers": f"{settings['num_layers']} of {settings['hidden_size']}, {settings['num_heads']} heads",
        "parameters": f"{log['parameters']:,}",
        "longest input": f"{settings['max_length']} tokens",
        "masks": masks,
        "training": f"{log['steps']:,} steps of {settings['batch_size']} segments in {format_duration(log['seconds'])}",
        "highest learning rate": f"{settings['learning_rate']:g}",
        "held-out perplexity of masked tokens": f"{last['perplexity']:.2f}",
        "held-out masked tokens predicted right": f"{last['accuracy']:.1f} %",
    }
    rows = "\n".join(f"| {name} | {value.replace('|', chr(92) + '|')} |" for name, value in facts.items())
    return CARD.format(
        language=f'language: "{language}"\n' if language else "", rows=rows, version=log["versions"]["mtl"]
    )
