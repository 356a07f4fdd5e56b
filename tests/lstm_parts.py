"""A small dataset with a task of every target kind, and the parts of an LSTM on it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import job
from embedding_requests import vectors_of
from small_suite import SMALL, rows

from mtl.base.settings.schema import Config
from mtl.data.dataset import Dataset, build_dataset
from mtl.data.examples import Example
from mtl.data.splits import TaskExamples
from mtl.data.text import TokenizedTexts, tokenized
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import Embeddings, EmbeddingsRequest
from mtl.methods.coded import Coded
from mtl.methods.lstm.outputs import encode_once
from mtl.methods.lstm.stage1 import new_network
from mtl.methods.networks import TaskInput
from mtl.methods.stage2 import Finetuning
from mtl.model.heads import AttentionHead, Head, ProjectingHead
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

LABELS = Task(id="labels", kind="labels", text=["x"], target="y", labels=["arg", "glad"], metric="accuracy")
NUMBERS = Task(id="numbers", kind="number", text=["x", "z"], target="y", range=[0, 10], metric="spearman")
CHOICE = Task(id="choice", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")
WORDS = Task(id="words", kind="word", text=["x"], target="y", metric="accuracy")
OTHER = replace(WORDS, id="other", scored="test", answered_by="words")  # no training rows
TASKS = [LABELS, NUMBERS, CHOICE, WORDS, OTHER]
TRAINED = TASKS[:4]
TRAIN, DEV = slice(0, 40), slice(40, 60)


def mixed_dataset() -> Dataset:
    """40 rows of train and 20 of dev for each task, and two of test; the rows of a choice have two or three candidates.

    A dev row of `words` and a test row of `other` have words as targets that training never sees.
    """
    texts, made = [text for text, _, _ in rows(60)], rows(60)
    labels = [Example(i, ((text,),), float(label == "glad")) for i, (text, label, _) in enumerate(made, start=2)]
    numbers = [Example(i + 2, ((text, texts[(7 * i + 3) % 60]),), float(n)) for i, (text, _, n) in enumerate(made)]
    choices = [
        Example(i + 2, tuple((text, texts[(i + k) % 60]) for k in range(1, 3 + i % 2)), float(i % 2))
        for i, text in enumerate(texts)
    ]
    words = [Example(i, ((text,),), text.split()[0]) for i, text in enumerate(texts, start=2)]
    words[TRAIN.stop] = Example(2, (("något annat",),), "okänt")
    split = {
        task.id: {"train": found[TRAIN], "dev": found[DEV], "test": found[:2]}
        for task, found in ((LABELS, labels), (NUMBERS, numbers), (CHOICE, choices), (WORDS, words))
    }
    split["other"] = {"test": [words[0], Example(3, (("helt nytt",),), "obekant"), words[1]]}
    return build_dataset([TaskExamples(task, split[task.id], []) for task in TASKS])


@dataclass(frozen=True)
class Parts:
    """What the two stages read."""

    config: Config
    suite: Suite
    data: Coded
    texts: TokenizedTexts
    embeddings: Embeddings
    sequences: Sequences

    @property
    def dataset(self) -> Dataset:
        return self.data.dataset

    def network(self, seed: int = 1) -> Network:
        """Before training."""
        return new_network(self.config, TRAINED, self.data.outputs, self.embeddings, seed)


def lstm_parts(folder: Path, *settings: str) -> Parts:
    """On the mixed dataset with these settings; folder: of caches."""
    small = [s for s in SMALL if "embeddings=elmo" not in settings or not s.startswith("embeddings.dim")]
    run = job(["suite=klej-sample", f"cache_dir={folder / 'cache'}", *small, "head.attention_size=6", *settings])
    dataset = mixed_dataset()
    texts = tokenized(dataset.texts, "sv", run.config.max_length)
    if run.config.boundary_words:
        texts = texts.with_boundaries()
    cpu = torch.device("cpu")
    training_texts = dataset.distinct_texts("train")
    request = EmbeddingsRequest(run.config.embeddings, texts, training_texts, vectors_of(run), folder / "cache", cpu)
    embeddings = EMBEDDERS[run.config.embeddings.name].build(request)
    coded = Coded(dataset, run.config.head.overlap)
    return Parts(run.config, run.suite, coded, texts, embeddings, embeddings.sequences(texts))


def stages(
    parts: Parts, network: Network, folder: Path, place: Callable[[Path, str], Path] = Path.joinpath
) -> dict[str, Finetuning]:
    """Stage 2 of each task, as the configuration says; it leaves its files at the task's place in the folder."""
    config, heads, encoder = parts.config, network.heads, network.encoder
    tuned = config.finetune.train_encoder
    encoded = None if tuned else encode_once(config, parts.dataset, parts.sequences, network, 1, folder)
    made = {}
    for task in TRAINED:
        own = TaskInput(parts.sequences, encoder=encoder.for_task()) if tuned else None
        read = own or encoded.input_for(heads, task)
        made[task.id] = Finetuning(config, parts.data, task, read, 1, place(folder, task.id))
    return made


def rounded_inputs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list that gets, for each batch of tokens that a head reads, whether float16 has all its numbers; then for what one
    part of a head reads of another."""
    found = list[bool]()

    def record(head: Any, states: torch.Tensor, *more: Any) -> torch.Tensor:
        found.append(torch.equal(states, states.half().float()))
        return reads[type(head)](head, states, *more)

    reads = {kind: kind.read for kind in (Head, ProjectingHead, AttentionHead)}
    for kind in reads:
        monkeypatch.setattr(kind, "read", record)
    return found
