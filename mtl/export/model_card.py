"""Model cards: what an exported encoder is, what it scores, what it was trained on, how to use it, and its limits."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.data.text import BOUNDARIES, UNKNOWN
from mtl.export.form import Export
from mtl.export.tokenizer import PADDING_WORD, UNKNOWN_WORD, can_express
from mtl.tasks.metrics import METRICS
from mtl.tasks.task import Task

NOT_STATED = "not stated"


def sentence_transformers_card(export: Export, architecture: str) -> str:
    """The card of a folder that sentence-transformers loads, with the sections that its own cards have. architecture: the modules."""
    parts, shown = export.parts, export.description
    front = {
        "language": [shown.language],
        **({"license": export.license} if export.license else {}),
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-transformers", "sentence-similarity", "feature-extraction", "bilstm"],
    }
    described = [
        "- **Model Type:** Sentence Transformer",
        f"- **Maximum Sequence Length:** {parts.max_length} tokens",
        f"- **Output Dimensionality:** {shown.dim} dimensions",
        "- **Similarity Function:** Cosine Similarity",
        f"- **Language:** {escaped(shown.language)}",
        f"- **License:** {escaped(export.license or NOT_STATED)}",
        f"- **Parameters:** {shown.parameters:,}, of which {shown.parameters_without_embeddings:,} are not in word vectors",
    ]
    sections = [
        f"# {escaped(shown.title)}",
        f"This is a sentence-transformers model that maps texts to vectors of {shown.dim} numbers: {_summary(export)}",
        "## Model Details\n\n### Model Description\n\n" + "\n".join(described),
        f"### Full Model Architecture\n\n```\n{architecture}\n```",
        "## Usage\n\nWith sentence-transformers 6 or later; neither mtl nor `trust_remote_code` is needed.\n\n"
        + code_block(
            "from sentence_transformers import SentenceTransformer",
            "",
            'model = SentenceTransformer("FOLDER")',
            'vectors = model.encode(["Text one.", "Text two."])',
            "model.similarity(vectors, vectors)",
        )
        + "\n\nThe prompt of the model is a space, which changes no vector but that of an empty text. If you set a prompt of your own,"
        " begin it with a space. Use `encode` for all texts: in sentence-transformers 6.2, `encode_query` and `encode_document` fail for"
        " every model with word vectors and a tokenizer of transformers.",
        *_shared(export),
    ]
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---\n\n" + "\n\n".join(sections) + "\n"


def onnx_card(export: Export) -> str:
    """The card of a folder with an ONNX model."""
    parts, shown = export.parts, export.description
    files = [
        f"- `model.onnx`: input `ids`, int64 (batch, time); output `vectors`, float32 (batch, {shown.dim}). Rows are padded with 0 at"
        " their ends; each row needs at least one word.",
        f"- `vocabulary.txt`: the word with id n in line n + 1; 0 is `{PADDING_WORD}`, 1 is `{UNKNOWN_WORD}`, any word that is not listed.",
    ]
    pad = (
        "longest = max(map(len, rows))",
        "ids = np.array([row + [0] * (longest - len(row)) for row in rows], dtype=np.int64)",
    )
    session = (
        'session = onnxruntime.InferenceSession("model.onnx")',
        'vectors = session.run(["vectors"], {"ids": ids})[0]',
    )
    if can_express(parts.language):
        files.append("- `tokenizer.json`: turns texts into ids, for the library tokenizers.")
        before, rows = (
            "Put a space before each text; it changes nothing, but an empty text would give no id.",
            _WITH_TOKENIZERS,
        )
    else:
        before, rows = "A text without a word is the one word `<unk>`.", _with_sacremoses(export)
    used = code_block("import numpy as np", "import onnxruntime", *rows, *pad, *session)
    sections = [
        f"# {escaped(shown.title)}",
        f"An ONNX model that maps texts to vectors of {shown.dim} numbers: {_summary(export)}",
        "## Files\n\n" + "\n".join(files),
        f"## Usage\n\n{before}\n\n{used}",
        *_shared(export),
    ]
    return "\n\n".join(sections) + "\n"


_WITH_TOKENIZERS = [
    "from tokenizers import Tokenizer",
    "",
    'tokenizer = Tokenizer.from_file("tokenizer.json")',
    'rows = [tokenizer.encode(" " + text).ids for text in ["Text one.", "Text two."]]',
]


def _with_sacremoses(export: Export) -> list[str]:
    """Code that turns texts into ids with the tokenizer that the run used."""
    parts = export.parts
    first, last = BOUNDARIES
    taken = f"[{first!r}, *words, {last!r}]" if parts.boundary_words else "words"
    return [
        "from sacremoses import MosesTokenizer",
        "",
        'words = open("vocabulary.txt", encoding="utf-8").read().split("\\n")[:-1]',
        "number = {word: id for id, word in enumerate(words)}",
        f"moses = MosesTokenizer({parts.language!r})",
        'texts = ["Text one.", "Text two."]',
        f"split = [(moses.tokenize(text, escape=False) or [{UNKNOWN!r}])[:{parts.max_length}] for text in texts]",
        f"rows = [[number.get(word, 1) for word in {taken}] for words in split]",
    ]


def vectors_card(export: Export) -> str:
    """The card of a folder with word vectors."""
    parts = export.parts
    used = code_block(
        "from gensim.models import KeyedVectors",
        "",
        'vectors = KeyedVectors.load_word2vec_format("vectors.vec")',
    )
    sections = [
        f"# Word vectors of {escaped(export.description.title)}",
        f"{len(parts.words):,} vectors of {parts.vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text"
        " format: exact float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{used}\n\nIn mtl: `embeddings=fasttext embeddings.path=vectors.vec`.",
        *_shared(export),
    ]
    return "\n\n".join(sections) + "\n"


def _summary(export: Export) -> str:
    parts, pooled = export.parts, {"max": "maximum", "mean": "mean"}[export.pooling]
    join = ", each joined with its word's vector" if parts.join_input else ""
    centred = " The mean vector of the training texts is subtracted." if export.centre is not None else ""
    return (
        f"{len(parts.words):,} word vectors, a bidirectional LSTM with {parts.num_layers} layers of 2 × {parts.hidden_size} units, and the"
        f" {pooled} over its outputs{join}.{centred}"
    )


def _shared(export: Export) -> list[str]:
    """The sections that all cards have."""
    return [_evaluation(export), _training(export), _limits(export)]


def _evaluation(export: Export) -> str:
    summary, seed = export.summary, str(export.description.seed)
    scale = export.suite.shown
    rows = [["task", "metric", "split", f"seed {seed}", "median", "minimum", "maximum", "constant"]]
    for id, scores in summary["tasks"].items():
        constant = scores.get("constant")
        rows.append(
            [
                task_title(export.suite.tasks[id]),
                METRICS[scores["metric"]].title,
                escaped(scores.get("split", "dev")),
                scale.show(scores["scores"][seed]),
                *(scale.show(scores[key]) for key in ("median", "min", "max")),
                MISSING if constant is None else scale.show(constant),
            ]
        )
    seeds = len(summary["seeds"])
    return (
        f"## Evaluation\n\nScores on {escaped(export.suite.title or export.suite.name)} of the run that this encoder is from, whose heads"
        f" are not part of the export. The encoder is that of seed {seed}; median, minimum and maximum are over"
        f" {seeds} seed{'s' if seeds > 1 else ''}; `constant` is the score of the best constant answer.\n\n{markdown_table(rows, left=3)}"
    )


def _training(export: Export) -> str:
    """The data that the encoder was trained on, and the commands."""
    summary, tasks = export.summary, export.suite.tasks
    trained = [id for id in summary["tasks"] if f"{export.suite.name}/{id}" in export.description.trained_on]
    rows = [["task", "license of the data", "training rows"]]
    for id in trained:
        numbers: Mapping[str, Any] = summary["tasks"][id].get("rows") or {}
        rows.append(
            [
                task_title(export.suite.tasks[id]),
                escaped(tasks[id].license or NOT_STATED),
                str(numbers.get("train", MISSING)),
            ]
        )
    reduced = [task_title(export.suite.tasks[id]) for id in summary["reduced"] if id in trained]
    note = f"\n\nNot the published data, but reduced or changed data: {', '.join(reduced)}." if reduced else ""
    return (
        "## Training Details\n\nAll tasks trained the encoder together (stage 1), on the training rows of"
        f" {escaped(export.suite.title or export.suite.name)}:\n\n{markdown_table(rows, left=2)}{note}\n\n"
        f"The run, and this export:\n\n{code_block(str(summary['command']), export.command, language='sh')}"
    )


def _limits(export: Export) -> str:
    parts = export.parts
    unknown = "Words that are not in the vocabulary share one vector, that of unknown words."
    if parts.all_words:
        unknown += (
            " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those that"
            " `words=` named."
        )
    limits = [
        unknown,
        f"Texts are cut after {parts.max_length} tokens.",
        f"The encoder was trained on the tasks above, in one language ({escaped(export.description.language)}); on other data it may be"
        " worse than the average of its word vectors.",
    ]
    if export.license is None:
        limits.append("No license is stated for the weights; that of the data and of the word vectors decides.")
    return "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits)


def task_title(task: Task) -> str:
    """As cards name a task, in Markdown."""
    return escaped(task.title or task.id)


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
