"""The export as an ONNX model, word ids in and text vectors out, with its vocabulary and, where the language allows, its tokenizer.

The graph is built from ONNX's own operators, with its operator LSTM, which takes the lengths of the rows. torch.onnx would need the
package onnxscript, or its deprecated exporter, and would unroll `pack_padded_sequence` into many operators.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.terminal import escaped
from mtl.data.text import BOUNDARIES, UNKNOWN, Vocabulary
from mtl.vectors.export.format import Export
from mtl.vectors.export.model_card import code_block, encoder_summary, shared_sections
from mtl.vectors.export.sentence_transformer import Reference
from mtl.vectors.export.tokenizer import PADDING_WORD, UNKNOWN_WORD, can_express, id_names, tokenizer_json, with_limits

MODEL, TOKENIZER, VOCABULARY = "model.onnx", "tokenizer.json", "vocabulary.txt"
IDS, VECTORS = "ids", "vectors"  # the names of the model's input and output
OPSET, IR_VERSION = 17, 8  # the oldest that onnxruntime of the last years reads alike
INLINE_BYTES = 2**30  # larger weights are in a file of their own: protobuf files end at 2 GiB


def write(export: Export, folder: Path) -> None:
    """Write the model and the files beside it.

    Raises InputError if onnxruntime computes other vectors with the written model, and the written tokenizer if there is one, than
    the run.
    """
    parts = export.parts
    write_model(export, folder / MODEL)
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in id_names(parts.words)))
    reference = Reference(export)
    word_ids = reference.ids
    if can_express(parts.language):
        limited = with_limits(tokenizer_json(parts.language, parts.words), parts.max_length, parts.boundary_words)
        write_text(folder / TOKENIZER, json.dumps(limited, ensure_ascii=False) + "\n")
        word_ids = partial(tokenizer_ids, folder / TOKENIZER)
    try:
        reference.check(lambda texts: run_model(folder / MODEL, word_ids(texts)))
    except InputError as error:
        raise error.located(key="--format onnx") from None
    write_text(folder / "README.md", onnx_card(export))


def tokenizer_ids(path: Path, texts: Sequence[str]) -> list[np.ndarray]:
    """The word ids of each text by the library tokenizers, int64 (tokens,), as the model card says to compute them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    return [np.array(tokenizer.encode(f" {text}").ids, dtype=np.int64) for text in texts]


def run_model(path: Path, rows: Sequence[np.ndarray]) -> np.ndarray:
    """The vectors of texts by onnxruntime, float32 (texts, dim), in one padded batch.

    Args:
        rows: the word ids of each text.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    vectors: np.ndarray = session.run([VECTORS], {IDS: ids})[0]
    return vectors


class _Graph:
    """Operators and weights, in order."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output; return the output's name."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def weight(self, values: np.ndarray) -> str:
        """Add a constant; return its name."""
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def write_model(export: Export, path: Path) -> None:
    """Write the graph: `ids`, int64 (batch, time), 0 past a row's last word -> `vectors`, float32 (batch, dim)."""
    graph, parts = _Graph(), export.parts
    inside = graph.add("Not", graph.add("Equal", IDS, graph.weight(np.array(Vocabulary.PADDING))))
    one = graph.weight(np.array([1]))
    lengths = graph.add("ReduceSum", graph.add("Cast", inside, to=TensorProto.INT32), one, keepdims=0)
    words = graph.add("Gather", graph.weight(parts.vectors.numpy()), IDS)
    states = graph.add("Transpose", words, perm=[1, 0, 2])
    for layer in range(parts.num_layers):
        states = _layer(graph, states, lengths, parts.lstm, layer, parts.hidden_size)
    outputs = graph.add("Transpose", states, perm=[1, 0, 2])
    if parts.join_input:
        outputs = graph.add("Concat", outputs, words, axis=2)
    pooled = POOLED[export.pooling](
        graph, outputs, graph.add("Unsqueeze", inside, graph.weight(np.array([2]))), lengths
    )
    if export.centre is not None:
        pooled = graph.add("Sub", pooled, graph.weight(export.centre))
    graph.nodes.append(helper.make_node("Identity", [pooled], [VECTORS]))
    _save(graph, parts.dim, path)


def _layer(graph: _Graph, states: str, lengths: str, weights: Mapping[str, Any], layer: int, size: int) -> str:
    """One bidirectional layer: (time, batch, width), lengths (batch,) -> (time, batch, 2 * size)."""

    def both(name: str) -> np.ndarray:
        """A weight of both directions with ONNX's order of gates: input, output, forget, cell; torch's is input, forget, cell, output."""
        stacked = []
        for direction in ("", "_reverse"):
            gates = np.split(weights[f"{name}_l{layer}{direction}"].numpy(), 4)
            stacked.append(np.concatenate([gates[gate] for gate in (0, 3, 1, 2)]))
        return np.stack(stacked)

    biases = np.concatenate([both("bias_ih"), both("bias_hh")], axis=1)
    arguments = [graph.weight(each) for each in (both("weight_ih"), both("weight_hh"), biases)]
    outputs = graph.add("LSTM", states, *arguments, lengths, direction="bidirectional", hidden_size=size)
    joined = graph.add("Transpose", outputs, perm=[0, 2, 1, 3])  # (time, directions, batch, size) before
    return graph.add("Reshape", joined, graph.weight(np.array([0, 0, 2 * size])))


def _max(graph: _Graph, outputs: str, inside: str, lengths: str) -> str:
    least = graph.weight(np.array(-np.inf, dtype=np.float32))
    return graph.add("ReduceMax", graph.add("Where", inside, outputs, least), axes=[1], keepdims=0)


def _mean(graph: _Graph, outputs: str, inside: str, lengths: str) -> str:
    counted = graph.add("Where", inside, outputs, graph.weight(np.array(0, dtype=np.float32)))
    one = graph.weight(np.array([1]))
    numbers = graph.add("Unsqueeze", graph.add("Cast", lengths, to=TensorProto.FLOAT), one)
    return graph.add("Div", graph.add("ReduceSum", counted, one, keepdims=0), numbers)


# By pooling: outputs (batch, time, dim), inside (batch, time, 1), which steps are words, lengths (batch,) -> (batch, dim).
POOLED = {"max": _max, "mean": _mean}


def _save(graph: _Graph, dim: int, path: Path) -> None:
    inputs = [helper.make_tensor_value_info(IDS, TensorProto.INT64, ["batch", "time"])]
    outputs = [helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["batch", dim])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="mtl",
    )
    beside = sum(len(weight.raw_data) for weight in graph.weights) > INLINE_BYTES
    onnx.save_model(model, str(path), save_as_external_data=beside, location=f"{path.name}.data" if beside else None)
    onnx.checker.check_model(str(path), full_check=True)


def onnx_card(export: Export) -> str:
    """The card of a folder with an ONNX model."""
    parts, description = export.parts, export.description
    files = [
        f"- `model.onnx`: input `ids`, int64 (batch, time); output `vectors`, float32 (batch, {description.dim}). Rows are padded with 0 at"
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
        f"# {escaped(description.title)}",
        f"An ONNX model that maps texts to vectors of {description.dim} numbers: {encoder_summary(export)}",
        "## Files\n\n" + "\n".join(files),
        f"## Usage\n\n{before}\n\n{used}",
        *shared_sections(export),
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
