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
from mtl.methods.transformer.pretrained import ExactLinear
from mtl.tasks.kinds.number import NumberHead
from mtl.tasks.target_kind import HeadTargets
from mtl.tasks.task import Task
from mtl.vectors.export.export import Export, card, check_difference, code_block

PROBES = (1, 2, 5, 13)  # tokens of texts that are compared, beside those of the longest input


def write(export: Export, folder: Path) -> None:
    """Write model, tokenizer and card. Raises InputError for a task whose inputs or head transformers does not have, and if the written
    model gives other outputs than the run."""
    trained, task = export.model, export.task
    if problem := unsupported(task):
        message = f"{problem}, so transformers cannot hold its model; mtl predict uses it"
        raise InputError(message, key="task", value=task.id)
    network = trained.network(task)
    model: Any = copy.deepcopy(network.models[0]).cpu().float().eval()
    _set_labels(model, task, *_ends(network.kinds[task.id]))
    tokenizer = _tokenizer(export)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    check_loads(export, folder)
    write_text(folder / "README.md", _card(export, type(model).__name__))


def unsupported(task: Task) -> str | None:
    """Why transformers cannot hold a model of the task, or None."""
    if task.kind not in ("labels", "number"):
        return f"its target is a {task.kind}, which is neither one of fixed labels nor a number"
    if task.marked:
        return "its inputs have spans behind the texts, which no tokenizer writes there"
    return None


def _ends(kind: HeadTargets) -> tuple[float, float]:
    """The numbers that the outputs 0 and 1 of a head mean: those of the range, unless the head has learnt the numbers themselves."""
    return kind.ends if isinstance(kind, NumberHead) else (0.0, 1.0)


def _set_labels(model: Any, task: Task, low: float, high: float) -> None:
    """Write the labels into the configuration; let the head of a number, whose ends these are, give the number itself."""
    config = model.config
    config._name_or_path = ""  # a path of this machine
    if task.labels is not None:
        config.id2label = dict(enumerate(task.labels))
        config.label2id = {label: number for number, label in enumerate(task.labels)}
        config.problem_type = "single_label_classification"
        return
    config.id2label, config.label2id, config.problem_type = {0: task.target}, {task.target: 0}, "regression"
    (last,) = [part for part in model.modules() if isinstance(part, ExactLinear)]
    if last.bias is None and low != 0:
        message = f"the head has no bias, so it cannot give numbers from {low:g}; mtl predict uses it"
        raise InputError(message, key="task", value=task.id)
    with torch.no_grad():
        last.weight.mul_(high - low)
        if last.bias is not None:
            last.bias.mul_(high - low).add_(low)


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
    low, high = _ends(network.kinds[task.id])
    for texts in _probes(export):
        with hidden_progress():
            tokens, lengths = InputReader(pretrained, trained.length).sequences([texts]).gather(torch.tensor([0]))
        inputs = body_input(pretrained, tokens, lengths)
        wanted = low + (high - low) * network.models[0](**inputs).logits.numpy()
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
    texts = ", ".join(['"Text one."', '"Text two."'][: len(task.text)])
    if task.labels is not None:
        means = ["scores = model(**inputs).logits[0].softmax(dim=0)", "model.config.id2label[int(scores.argmax())]"]
        answer = f"one of the labels {', '.join(map(escaped, task.labels))}"
    else:
        low, high = task.bounds
        means = [f"number = model(**inputs).logits[0, 0].clamp({low:g}, {high:g})"]
        answer = f"a number from {low:g} to {high:g}"
        limits.append("The run clips numbers to the range of the target, and the model does not: clip them as above.")
    used = code_block(
        "import torch",
        "from transformers import AutoModelForSequenceClassification, AutoTokenizer",
        "",
        'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
        'model = AutoModelForSequenceClassification.from_pretrained("FOLDER").eval()',
        f'inputs = tokenizer({texts}, truncation=True, return_tensors="pt")',
        "with torch.no_grad():",
        *(f"    {line}" for line in means),
    )
    begin = [
        "# " + escaped(f"{export.summary['title']}: {task.title or task.id}"),
        f"A transformer with a head ({architecture}), fine-tuned on {escaped(task.title or task.id)} of {escaped(suite.title or suite.name)}:"
        f" it reads {'two texts' if len(task.text) > 1 else 'a text'} and answers {answer}.",
        f"## Usage\n\n{used}",
    ]
    about = "The body is a pretrained transformer, and its own card says what it was trained on. It was fine-tuned on the training rows of"
    return card(export, front, begin, about, trained.trained_on or (task.answered_by or task.id,), limits)
