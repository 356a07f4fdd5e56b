"""Measure how far the neighbours of words differ between trainings of fastText vectors with one thread and with several.

    python benchmarks/vector_threads.py --text novels.txt.gz --lines 20000

Each training has the same lines and settings: with one thread, with one thread and the lines in another order (as another seed would
differ), and with each number of threads. Prints the seconds of each training, and for words drawn from the frequent ones the share of
the ten nearest neighbours that it has in common with the first training.
"""

import argparse
import random
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from mtl.data.files import text_lines
from mtl.data.text import moses
from mtl.vectors.words.fasttext import FastTextTraining

NEIGHBOURS = 10
LEAST = 20  # occurrences of the words that are compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="text to train on, plain or .gz")
    parser.add_argument("--language", default="en", help="of the tokenizer (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=20_000, help="lines of the text to use (default: %(default)s)")
    parser.add_argument("--words", type=int, default=200, help="words to compare (default: %(default)s)")
    parser.add_argument("--dim", type=int, default=100, help="numbers in a vector (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 0], help="0: one for each core (default: 2 0)")
    arguments = parser.parse_args()
    lines = list(map(moses(arguments.language), islice(text_lines([arguments.text], "tokenizing"), arguments.lines)))
    shuffled = random.Random(1).sample(lines, len(lines))
    trainings = [("1 thread", lines, 1), ("1 thread, other order", shuffled, 1)]
    trainings += [(f"threads={threads}", lines, threads) for threads in arguments.threads]
    print(f"{sum(map(len, lines)):,} words in {len(lines):,} lines, {arguments.epochs} epochs, {arguments.dim} numbers")
    first: tuple[list[str], np.ndarray] | None = None
    with tempfile.TemporaryDirectory() as folder:
        for name, text, threads in trainings:
            settings = FastTextTraining(dim=arguments.dim, epochs=arguments.epochs, bucket=200_000, threads=threads)
            start = time.monotonic()
            settings.train(text, Path(folder, "v.bin"))
            seconds = time.monotonic() - start
            words, neighbours = nearest(Path(folder, "v.bin"), None if first is None else first[0], arguments.words)
            first = first or (words, neighbours)
            shared = [len(set(one) & set(other)) for one, other in zip(first[1], neighbours, strict=True)]
            print(
                f"{name}: {seconds:.0f} s, {np.mean(shared) / NEIGHBOURS:.1%} of the neighbours in common", flush=True
            )


def nearest(path: Path, words: list[str] | None, count: int) -> tuple[list[str], np.ndarray]:
    """The compared words, and the nearest ones of each among all words with LEAST occurrences, (words, NEIGHBOURS).

    Args:
        words: None: draw so many.
    """
    import fasttext

    model = fasttext.load_model(str(path))
    counts = dict(zip(*model.get_words(include_freq=True), strict=True))
    known = sorted(word for word, occurrences in counts.items() if occurrences >= LEAST and word.isalpha())
    words = words or random.Random(2).sample(known, min(count, len(known)))
    vectors = np.array([model.get_word_vector(word) for word in known])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    index = {word: number for number, word in enumerate(known)}
    chosen = [index[word] for word in words]
    cosines = vectors[chosen] @ vectors.T
    cosines[np.arange(len(chosen)), chosen] = -np.inf
    return words, np.array(known)[np.argsort(-cosines, axis=1)[:, :NEIGHBOURS]]


if __name__ == "__main__":
    main()
