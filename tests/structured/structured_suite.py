"""A suite with a task of each kind of structured targets, beside labels of texts: tags in JSON Lines, a CoNLL file and cells of a pair's second
text; sets of labels in lists and in columns; answers in passages."""

import random
from pathlib import Path
from typing import Any

import numpy as np
from command_line import job
from data_files import write_jsonl, write_lines, write_table

from mtl.jobs.job import Job

SUITE = """\
name: several
language: en
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
config:
  trainer: {threads: 1}
  encoder: {hidden_size: 8}
  head: {hidden_size: 8, attention_size: 4}
  pretrain: {max_steps: 10, validate_every: 5, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 2, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002, threshold: dev}
  loss: {class_weights: 0.5}
tasks:
  names:
    {folder: names, kind: token_labels, text: ["tokens[]"], target: "tags[]", labels: [O, B-PER, I-PER, B-LOC],
     indices: ["0", "1", "2", "3"], metric: span_f1, also: [span_recall, token_accuracy]}
  words:
    {folder: words, kind: token_labels, text: ["form[]"], target: "upos[]", labels: [NOUN, VERB, ADP],
     metric: token_accuracy, files: {train: train.conllu, dev: dev.conllu, test: test.conllu}}
  slots:                    # a pair, whose second text has the tokens
    {folder: slots, kind: token_labels, text: [question, reply], target: slots, labels: [O, B-LOC],
     metric: span_f1, files: {train: train.tsv, dev: dev.tsv, test: test.tsv}}
  travels: {folder: travels, text: [text], target: label, labels: [stays, travels], metric: accuracy}
  lists:
    {folder: lists, kind: multi_label, text: [text], target: "labels[]", labels: [joy, fear, rage],
     metric: micro_f1, also: [multi_macro_f1], breakdown: [source]}
  flags:
    {folder: flags, kind: multi_label, text: [text, other], target: joy + fear + rage, labels: [joy, fear, rage],
     metric: multi_macro_f1, files: {dev: null}, scored: test}
  facts:
    {folder: facts, kind: answer, text: [question, context], target: "answers.text[]",
     starts: "answers.answer_start[]", metric: squad_f1, also: [squad_exact], group: context}
"""
LABELS = ["O", "B-PER", "I-PER", "B-LOC"]
PEOPLE, PLACES = ["Anek", "Borek", "Celek", "Danek"], ["Norburg", "Zelburg", "Taburg"]
WORDS = {"joy": "happy", "fear": "scared", "rage": "angry"}
SPLITS = {"train": (0, 48), "dev": (50, 24), "test": (80, 12)}  # the first sentence, and the number of rows


def sentence(i: int) -> list[tuple[str, str]]:
    """Tokens with their tags."""
    person = [(PEOPLE[i % 4], "B-PER"), *([("van Sson", "I-PER")] if i % 3 == 0 else [])]
    place = [("in", "O"), (PLACES[i % 3], "B-LOC")] if i % 2 else [("home", "O")]
    return [*person, ("stays" if i % 5 else "won't stay", "O"), *place, *([(str(i), "O")] if i % 7 == 0 else [])]


def sentences(split: str) -> list[list[tuple[str, str]]]:
    first, count = SPLITS[split]
    return [sentence(i) for i in range(first, first + count)]


def label_rows(split: str) -> list[dict[str, Any]]:
    """Texts in which single words decide about labels."""
    rng, rows = np.random.default_rng(len(split)), []
    for number in range(SPLITS[split][1]):
        labels = [label for label in WORDS if rng.random() < 0.4]
        text = " ".join([*(WORDS[label] for label in labels), f"the walk of {split}", f"number {number}"])
        rows.append({"text": text, "labels": labels, "source": "ab"[number % 2]})
    return rows


def fact_rows(split: str) -> list[dict[str, Any]]:
    """Two questions on each passage: when and where someone moved. Every third row has no answer."""
    chance, rows, count = random.Random(split), list[dict[str, Any]](), SPLITS[split][1]
    while len(rows) < count:
        names = chance.sample(PEOPLE, 4)
        told = {name: (str(chance.randint(1800, 1999)), chance.choice(["New York", *PLACES])) for name in names[:3]}
        passage = " ".join(f"In {year}, {name} moved to {city}." for name, (year, city) in told.items())
        for place, word in enumerate(("When", "Where")):
            name = names[3] if len(rows) % 3 == 2 else chance.choice(names[:3])
            answers: dict[str, list[Any]] = {"text": [], "answer_start": []}
            if name in told:
                answer, begin = told[name][place], passage.index(f"In {told[name][0]}, {name}")
                answers = {"text": [answer], "answer_start": [passage.index(answer, begin)]}
            question = f"{word} did {name} move?"
            rows.append({"id": f"{split}{len(rows)}", "context": passage, "question": question, "answers": answers})
    return rows


def write_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data`. The tags of test rows are not right."""
    data, path = folder / "data", folder / "several.yaml"
    folder.mkdir(exist_ok=True)
    path.write_text(SUITE, encoding="utf-8")
    for split in SPLITS:
        tokens, tags = ([[pair[part] for pair in row] for row in sentences(split)] for part in (0, 1))
        codes = [[0 if split == "test" else LABELS.index(tag) for tag in row] for row in tags]
        pairs = zip(tokens, codes, strict=True)
        write_jsonl(data / f"names/{split}.jsonl", [{"tokens": words, "tags": row} for words, row in pairs])
        lines = [line for words in tokens for line in (*_conll(words), "")]
        write_lines(data / f"words/{split}.conllu", ["# newdoc id = one", *lines])
        cells = [
            ("where to ?", *(" ".join(part) for part in ([word.replace(" ", "_") for word in words], slots)))
            for words, row in zip(tokens, tags, strict=True)
            for slots in [[tag if tag == "B-LOC" else "O" for tag in row]]
        ]
        write_table(data / f"slots/{split}.tsv", ["question", "reply", "slots"], cells)
        texts = zip(map(" ".join, tokens), ["travels" if "B-LOC" in row else "stays" for row in tags], strict=True)
        write_jsonl(data / f"travels/{split}.jsonl", [{"text": text, "label": label} for text, label in texts])
        rows = label_rows(split)
        write_jsonl(data / f"lists/{split}.jsonl", rows)
        flags = [{label: label in row["labels"] for label in WORDS} | {"text": row["text"]} for row in rows]
        write_jsonl(data / f"flags/{split}.jsonl", [{"other": "a walk", **row} for row in flags])
        write_jsonl(data / f"facts/{split}.jsonl", fact_rows(split))
    return path


def _conll(words: list[str]) -> list[str]:
    kinds = ["VERB" if "stay" in word else "ADP" if word == "in" else "NOUN" for word in words]
    return [
        "\t".join([str(number), word.replace(" ", "_"), "_", kind, *"______"])
        for number, (word, kind) in enumerate(zip(words, kinds, strict=True), start=1)
    ]


def suite_job(folder: Path, run: str, *settings: str) -> Job:
    """A run on the suite in the folder, whose results are in `runs/several/{run}`."""
    folders = [f"data_dir={folder}/data", f"cache_dir={folder}/cache", f"run_dir={folder}/runs/several/{run}"]
    return job([f"suite={folder}/several.yaml", *folders, "seeds=[1]", *settings])
