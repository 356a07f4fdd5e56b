"""A folder that transformers' `AutoModelForSequenceClassification` loads: a task's fine-tuned transformer with its head and tokenizer."""

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.device import exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.progress import hidden_progress
from mtl.base.terminal import escaped
from mtl.methods.transformer.inputs import InputReader
from mtl.methods.transformer.network import body_input
from mtl.vectors.export.export import Export, card, check_difference, code_block

PROBES = (1, 2, 5, 13)  # tokens of texts that are compared, beside those of the longest input


def write(export: Export, folder: Path) -> None:
    """Write model, tokenizer and card. Raises InputError for a task whose inputs or head transformers does not have, and if the written
    model gives other outputs than the run."""
    task = export.task
    if task.kind != "labels" or task.marked:
        message = (
            "only the model of a task of fixed labels and without spans can be exported; mtl predict uses this one"
        )
        raise InputError(message, key="task", value=task.id)
    model: Any = copy.deepcopy(export.model.network(task).models[0]).cpu().float().eval()
    config, labels = model.config, task.labels or []
    config._name_or_path = ""  # a path of this machine
    config.id2label, config.label2id = dict(enumerate(labels)), {label: number for number, label in enumerate(labels)}
    config.problem_type = "single_label_classification"
    tokenizer = _tokenizer(export)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    check_loads(export, folder)
    write_text(folder / "README.md", _card(export, type(model).__name__))


def _tokenizer(export: Export) -> Any:
    """The tokenizer, which cuts inputs as the run does and returns what the body reads."""
    pretrained = export.model.pretrained
    tokenizer = copy.deepcopy(pretrained.tokenizer)
    tokenizer.model_max_length = export.model.length
    tokenizer.model_input_names = ["input_ids", *(["token_type_ids"] if pretrained.has_types else []), "attention_mask"]
    if tokenizer.is_fast:  # these two are those of its last call
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    return tokenizer


@exact_arithmetic()
@torch.no_grad()
def check_loads(export: Export, folder: Path) -> None:
    """Raise InputError if the files give other outputs than the run's network for some inputs. Both compute in float32."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    trained, task = export.model, export.task
    network, pretrained = trained.network(task).cpu().eval(), trained.pretrained
    for texts in _probes(export):
        with hidden_progress():
            tokens, lengths = InputReader(pretrained, trained.length).sequences([texts]).gather(torch.tensor([0]))
        inputs = body_input(pretrained, tokens, lengths)
        wanted = network.models[0](**inputs).logits.numpy()
        outputs = model(**tokenizer(*texts, truncation=True, return_tensors="pt")).logits.numpy()
        # A share of the largest output where that is above 1.
        scale = max(1.0, float(np.abs(wanted).max()))
        check_difference(outputs, wanted, "outputs", "transformers", scale)
    network.to(trained.device)


def _probes(export: Export) -> list[tuple[str, ...]]:
    """Inputs of the task of different lengths, the longest longer than the run reads, of the tokenizer's own words."""
    rng, tokenizer = random.Random(0), export.model.pretrained.tokenizer
    special = set(tokenizer.all_special_ids)
    words = [number for number in sorted(tokenizer.get_vocab().values()) if number not in special]
    longest = export.model.length
    texts = [tokenizer.decode(rng.choices(words, k=length)) for length in (*PROBES, longest, longest + 7)]
    if len(export.task.text) == 1:
        return [(text,) for text in texts]
    return list(zip(texts, [*texts[1:], texts[0]], strict=True))


def _card(export: Export, architecture: str) -> str:
    """The model card."""
    task, suite, trained = export.task, export.predictor.suite, export.model
    front = {"library_name": "transformers", "pipeline_tag": "text-classification"}
    limits = [f"Inputs are cut after {trained.length} tokens, the longer text of a pair first (`truncation=True`)."]
    texts = '"Text one."' if len(task.text) == 1 else '{"text": "Text one.", "text_pair": "Text two."}'
    used = code_block(
        "from transformers import pipeline",
        "",
        'classify = pipeline("text-classification", model="FOLDER", truncation=True)',
        f"classify({texts})",
    )
    begin = [
        "# " + escaped(f"{export.summary['title']}: {task.title or task.id}"),
        f"A transformer with a head ({architecture}), fine-tuned on {escaped(task.title or task.id)} of {escaped(suite.title or suite.name)}:"
        f" it reads {'two texts' if len(task.text) > 1 else 'a text'} and answers one of the labels {', '.join(map(escaped, task.labels or ()))}.",
        f"## Usage\n\n{used}",
    ]
    about = "The body is a pretrained transformer, and its own card says what it was trained on. It was fine-tuned on the training rows of"
    return card(export, front, begin, about, trained.trained_on or (task.answered_by or task.id,), limits)
