"""The model inputs of rows as token ids: both texts of a pair in one sequence, marked words behind them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.wording import counted
from mtl.data.dataset import Dataset, Split, marked_texts
from mtl.methods.transformer.pretrained import Pretrained
from mtl.methods.transformer.reading import tokenizing
from mtl.model.sequences import ArraySequences
from mtl.tasks.task import Task

CHUNK = 1000  # inputs that the tokenizer gets at once
MOST_FURTHER = 0.5  # the share of an input that further texts may take; longer ones are cut

Parts = tuple[str, ...]  # the texts of one model input
Tokens = tuple[list[int], list[int]]  # ids, and for each the text that it belongs to: 0, or 1 for a second one


class InputReader:
    """Turns texts into token ids with a transformer's tokenizer. An input has a head, its first text or the first two as a pair, and a tail, its
    further texts, which are marked words. Each of these stands behind the tokenizer's separator, as a part of the second text (Superlim's protocol):

        <s> first text </s> second text </s> marked word </s> marked word </s>

    Where an input is too long, the longer text of its head is cut at its end. Of the tail, only very long texts are cut (MOST_FURTHER)."""

    def __init__(self, pretrained: Pretrained, max_length: int) -> None:
        """The largest length of an input is in tokens (`longest_input`)."""
        self.tokenizer, self.name, self.padding = pretrained.tokenizer, pretrained.name, pretrained.padding
        self.length = max_length
        types = pretrained.config.type_vocab_size if pretrained.has_types else None
        self._table_sizes = {"token": pretrained.body.get_input_embeddings().num_embeddings, "type": types}
        self.seen = self.cut = 0  # how many inputs were read, and how many of them were too long
        with tokenizing(self.name):
            single_marks = int(self.tokenizer.num_special_tokens_to_add(pair=False))
            pair_marks = int(self.tokenizer.num_special_tokens_to_add(pair=True))
        # The least tokens of a head, by its number of texts: one of each text, and the tokenizer's marks.
        self._shortest_heads = {1: 1 + single_marks, 2: 2 + pair_marks}

    def sequences(self, inputs: Sequence[Parts]) -> ArraySequences:
        """The inputs as sequences of two numbers for each token: its id, and the text that it is from (0 or 1), int32. Counts those that are cut."""
        self.seen += len(inputs)
        rows: list[np.ndarray] = []
        with Progress("tokenizing", len(inputs), "rows") as bar:
            for start in range(0, len(inputs), CHUNK):
                rows += self._read(inputs[start : start + CHUNK])
                bar.reach(len(rows))
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        tokens = np.concatenate(rows) if rows else np.empty((0, 2), dtype=np.int32)
        self._check_numbers(tokens)
        return ArraySequences(tokens, starts, lengths)

    def notes(self) -> list[str]:
        """A sentence that says how many inputs are cut, if any are."""
        return [f"{self.cut:,} of {self.seen:,} distinct inputs are cut to {self.length} tokens."] if self.cut else []

    def _check_numbers(self, tokens: np.ndarray) -> None:
        """Raise InputError if the model has no vector for an id or a type."""
        for (column, size), numbers in zip(self._table_sizes.items(), tokens.T, strict=True):
            if len(numbers) and size is not None and numbers.max() >= size:
                message = f"its tokenizer gives the {column} {numbers.max()}, and the model has {size}; restore the folder's files"
                raise InputError(f"{self.name}: {message}")

    def _read(self, inputs: Sequence[Parts]) -> list[np.ndarray]:
        """The tokens of each input, int32 (tokens, 2)."""
        for count in {len(parts) for parts in inputs}:
            self._check_length(count)
        tails = [self._tail(parts[2:]) for parts in inputs]
        head_texts = [tuple(encodable(text) for text in parts[:2]) for parts in inputs]
        heads = self._heads(head_texts, [self.length - len(tail) for tail in tails])
        with tokenizing(self.name):  # a damaged one may give numbers that are too large
            return [self._joined(head, tail) for head, tail in zip(heads, tails, strict=True)]

    def _check_length(self, count: int) -> None:
        """Raise InputError if `max_length` leaves no token for each of so many texts, beside the marks of the tokenizer."""
        shortest = self._shortest_heads[min(count, 2)] + 2 * max(0, count - 2)
        if self.length < shortest:
            problem = f"is too short for inputs of {counted(count, 'text')} with the marks of {self.name}; set max_length={shortest} or more"
            raise InputError(problem, key="max_length", value=self.length)

    def _tail(self, further: Sequence[str]) -> list[int]:
        """The ids of further texts, each after a separator. Raises InputError if the tokenizer has none."""
        if not further:
            return []
        tokenizer = self.tokenizer
        separator = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
        if separator is None:
            message = "its tokenizer has no separator, which spans stand behind; leave their tasks out with tasks="
            raise InputError(f"{self.name}: {message}")
        longest_tail = min(int(self.length * MOST_FURTHER), self.length - self._shortest_heads[2])
        longest_text = max(1, longest_tail // len(further) - 1)  # in tokens, behind its separator
        with tokenizing(self.name):
            texts = [tokenizer(encodable(text), add_special_tokens=False)["input_ids"] for text in further]
        return [token for ids in texts for token in (separator, *ids[:longest_text])]

    def _heads(self, texts: Sequence[Parts], lengths: Sequence[int]) -> list[Tokens]:
        """The tokens of texts and of pairs, each cut to its length in tokens."""
        heads: dict[int, Tokens] = {}  # by the number of the input
        for count in (1, 2):  # the tokenizer reads texts and pairs in separate calls
            if numbers := [number for number, parts in enumerate(texts) if len(parts) == count]:
                longest = max(lengths[number] for number in numbers) + 1  # one token more shows which ones are too long
                tokens = self._tokenize([texts[number] for number in numbers], longest)
                heads.update(zip(numbers, tokens, strict=True))
        for number, length in enumerate(lengths):
            ids, _ = heads[number]
            if len(ids) > length:
                self.cut += 1
                (heads[number],) = self._tokenize([texts[number]], length)
        return [heads[number] for number in range(len(texts))]

    def _tokenize(self, texts: Sequence[Parts], length: int) -> list[Tokens]:
        """The tokens of texts or pairs, cut to so many; of a pair, the longer text is cut."""
        columns = [list(column) for column in zip(*texts, strict=True)]
        with tokenizing(self.name):
            encoded: Any = self.tokenizer(
                *columns,
                truncation="longest_first",
                max_length=length,
                return_token_type_ids=True,  # a folder saved by PreTrainedTokenizerFast alone would give none
                return_attention_mask=False,
            )
        return list(zip(encoded["input_ids"], encoded["token_type_ids"], strict=True))

    def _joined(self, head: Tokens, tail: Sequence[int]) -> np.ndarray:
        """The tokens of an input, int32 (tokens, 2): its head, then its tail as a part of the last text."""
        ids, types = head
        if tail and ids and ids[-1] == tail[0]:  # the head ends with a separator already: it goes behind the tail
            tail = [*tail[1:], tail[0]]
        last_type = max(types, default=0)
        ids, types = [*ids, *tail], [*types, *[last_type] * len(tail)]
        # A tokenizer that adds no marks gives an empty text no token at all.
        return np.array([ids or [self.padding], types or [0]], dtype=np.int32).T


def longest_input(max_length: int, pretrained: Pretrained) -> int:
    """The length to which inputs are cut, in tokens: `max_length`, or what the transformer takes if that is less."""
    return min(max_length, pretrained.longest or max_length)


def encodable(text: str) -> str:
    """The text, with "?" for half surrogate pairs, which no tokenizer takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def with_inputs(task: Task, split: Split, texts: Sequence[str], index: dict[Parts, int]) -> Split:
    """The split with the number of each model input in place of its texts: those of the row, then what is marked in them. `texts` are those that the
    split has the numbers of; `index` has the number of each model input, and gets those of new ones."""
    inputs: list[Parts] = [tuple(texts[number] for number in row) for row in split.texts.tolist()]
    if task.marked:
        marked = marked_texts(task, split, texts)
        inputs = [(*parts, *spans) for parts, spans in zip(inputs, marked, strict=True)]
    numbers = [index.setdefault(parts, len(index)) for parts in inputs]
    return replace(split, texts=np.array(numbers, dtype=np.int64).reshape(-1, 1))


def read_dataset(dataset: Dataset, reader: InputReader) -> tuple[Dataset, ArraySequences]:
    """The dataset with its model inputs in place of texts, and all of them as sequences."""
    texts, index = dataset.texts, dict[Parts, int]()
    splits = {
        task.id: {name: with_inputs(task, split, texts, index) for name, split in dataset.splits[task.id].items()}
        for task in dataset.tasks
    }
    return replace(dataset, splits=splits), reader.sequences(list(index))
