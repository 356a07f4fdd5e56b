"""A suite with labels of tokens beside labels of texts: lists in JSON Lines, a CoNLL file, and cells of a pair's second text."""

from pathlib import Path

from data_files import write_jsonl, write_lines, write_table

SUITE = """\
name: tags
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
config:
  trainer: {threads: 1}
  encoder: {hidden_size: 6}
  head: {hidden_size: 8, attention_size: 4}
  pretrain: {max_steps: 8, validate_every: 4, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 2, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002}
tasks:
  names:
    folder: names
    text: ["tokens[]"]
    kind: token_labels
    target: tags[]
    labels: [O, B-PER, I-PER, B-LOC]
    indices: ["0", "1", "2", "3"]
    metric: span_f1
    also: [span_f1_macro, token_accuracy]
  words:
    folder: words
    files: {train: train.conllu, dev: dev.conllu, test: test.conllu}
    text: ["form[]"]
    kind: token_labels
    target: upos[]
    labels: [NOUN, VERB, ADP]
    metric: token_accuracy
  slots:                    # a pair, whose second text has the tokens
    folder: slots
    files: {train: train.tsv, dev: dev.tsv, test: test.tsv}
    text: [question, reply]
    kind: token_labels
    target: slots
    labels: [O, B-LOC]
    metric: span_f1
  travels:
    folder: travels
    text: [text]
    target: label
    labels: [stays, travels]
    metric: accuracy
"""
LABELS = ["O", "B-PER", "I-PER", "B-LOC"]
PEOPLE, PLACES = ["Anek", "Borek", "Celek", "Danek"], ["Norburg", "Zelburg", "Taburg"]

Sentence = list[tuple[str, str]]  # tokens with their tags


def sentence(i: int) -> Sentence:
    person = [(PEOPLE[i % 4], "B-PER"), *([("van Sson", "I-PER")] if i % 3 == 0 else [])]
    place = [("in", "O"), (PLACES[i % 3], "B-LOC")] if i % 2 else [("home", "O")]
    return [*person, ("stays" if i % 5 else "won't stay", "O"), *place, *([(str(i), "O")] if i % 7 == 0 else [])]


def write_token_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data`. The test rows have no targets that are right."""
    path = folder / "tags.yaml"
    folder.mkdir(exist_ok=True)
    path.write_text(SUITE, encoding="utf-8")
    for split, first, count in (("train", 0, 40), ("dev", 50, 16), ("test", 80, 8)):
        rows = [sentence(i) for i in range(first, first + count)]
        data = folder / "data"
        tags = [[0 if split == "test" else LABELS.index(tag) for _, tag in row] for row in rows]
        tokens = [[token for token, _ in row] for row in rows]
        write_jsonl(
            data / f"names/{split}.jsonl",
            [{"tokens": words, "tags": ints} for words, ints in zip(tokens, tags, strict=True)],
        )
        lines = [line for words in tokens for line in (*_conll(words), "")]
        write_lines(data / f"words/{split}.conllu", ["# newdoc id = one", *lines])
        cells = [
            (
                "where to ?",
                " ".join(word.replace(" ", "_") for word in words),
                " ".join("O" if tag != "B-LOC" else tag for _, tag in row),
            )
            for words, row in zip(tokens, rows, strict=True)
        ]
        write_table(data / f"slots/{split}.tsv", ["question", "reply", "slots"], cells)
        labels = ["travels" if any(tag == "B-LOC" for _, tag in row) else "stays" for row in rows]
        texts = [{"text": " ".join(words), "label": label} for words, label in zip(tokens, labels, strict=True)]
        write_jsonl(data / f"travels/{split}.jsonl", texts)
    return path


def _conll(words: list[str]) -> list[str]:
    kinds = ["VERB" if "stay" in word else "ADP" if word == "in" else "NOUN" for word in words]
    return [
        "\t".join([str(number), word.replace(" ", "_"), "_", kind, *"______"])
        for number, (word, kind) in enumerate(zip(words, kinds, strict=True), start=1)
    ]
