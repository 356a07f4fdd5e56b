"""Measure the time and the peak memory of three readers of word vectors from a large fastText model.

    python benchmarks/vector_loading.py --text text.txt.gz --model /tmp/vectors.bin

Trains a model with 2,000,000 n-gram buckets of 300 numbers (2.4 GB) unless `--model` exists, makes a list of words of
which half are in its vocabulary, and looks all of them up with each reader in turn, each time in a new process. The
page cache is not cleared, so after the first run the file is read from memory.
"""

import argparse
import gzip
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# This process imports nothing large: on Linux a child's peak memory starts from its parent's.

READERS = ("ours", "fasttext", "gensim")
LETTERS = "aąbcćdeęfghijklłmnńoóprsśtuwyzźż"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="text to train on, plain or .gz (default: random words)")
    parser.add_argument("--lines", type=int, default=20_000, help="lines of the text to use (default: %(default)s)")
    parser.add_argument("--model", type=Path, required=True, help="the .bin to use; trained if it does not exist")
    parser.add_argument("--words", type=int, default=60_000, help="words to look up (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each reader (default: %(default)s)")
    parser.add_argument("--step", choices=("train", "compare", *READERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step is None:
        compare_readers(arguments)
    elif arguments.step == "train":
        train(arguments)
    elif arguments.step == "compare":
        compare_vectors(arguments.model)
    else:
        measure(arguments.step, arguments.model)


def compare_readers(arguments: argparse.Namespace) -> None:
    """Run every reader `--runs` times, in turn, and print the medians."""
    run_step("train", arguments)
    results: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
    for _ in range(arguments.runs):
        for reader in READERS:
            results[reader].append(json.loads(run_step(reader, arguments)))

    def median(reader: str, figure: str) -> float:
        return statistics.median(result[figure] for result in results[reader])

    print(f"{arguments.model}: {arguments.model.stat().st_size / 1e9:.2f} GB; medians of {arguments.runs} runs")
    print(f"{'reader':<10}{'seconds':>9}{'× ours':>8}{'peak MiB':>10}{'× ours':>8}{'imports MiB':>13}{'above MiB':>11}")
    for reader in READERS:
        seconds, peak, imports = (median(reader, figure) for figure in ("seconds", "peak", "imports"))
        print(
            f"{reader:<10}{seconds:>9.2f}{seconds / median('ours', 'seconds'):>8.1f}"
            f"{peak:>10.0f}{peak / median('ours', 'peak'):>8.1f}{imports:>13.0f}{peak - imports:>11.0f}"
        )
    print(run_step("compare", arguments), end="")


def run_step(step: str, arguments: argparse.Namespace) -> str:
    """Run this script in a new process for one step, and return its output."""
    command = [sys.executable, __file__, "--step", step, "--model", str(arguments.model)]
    command += ["--lines", str(arguments.lines), "--words", str(arguments.words)]
    command += ["--text", str(arguments.text)] if arguments.text else []
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def train(arguments: argparse.Namespace) -> None:
    """Train the model if it does not exist, and write the words to look up to a file in its folder."""
    import fasttext

    if not arguments.model.exists():
        sample = arguments.model.with_suffix(".sample.txt")
        write_sample(arguments.text, arguments.lines, sample)
        # with fewer than 11 threads, fastText 0.9.3 leaves a part of the matrix uninitialized
        trained = fasttext.train_unsupervised(
            str(sample),
            model="cbow",
            dim=300,
            bucket=2_000_000,
            minCount=1,
            minn=3,
            maxn=6,
            epoch=1,
            thread=2,
            verbose=0,
        )
        trained.save_model(str(arguments.model))
    vocabulary = fasttext.load_model(str(arguments.model)).get_words()
    chance = random.Random(0)
    inside = chance.sample(vocabulary, min(arguments.words // 2, len(vocabulary)))
    known, outside = set(vocabulary), dict[str, None]()
    while len(inside) + len(outside) < arguments.words:
        start, end = chance.choices(vocabulary, k=2)
        word = start[: len(start) // 2 + 1] + end[len(end) // 2 :]
        if word not in known:
            outside[word] = None
    words = inside + list(outside)
    chance.shuffle(words)
    word_list(arguments.model).write_text("\n".join(words), encoding="utf-8")


def write_sample(text: Path | None, lines: int, sample: Path) -> None:
    """Write the first lines of the text, or as many lines of random words if there is no text."""
    with sample.open("w", encoding="utf-8") as file:
        if text is None:
            chance = random.Random(0)
            lexicon = ["".join(chance.choices(LETTERS, k=chance.randint(2, 14))) for _ in range(100_000)]
            file.writelines(" ".join(chance.choices(lexicon, k=20)) + "\n" for _ in range(lines))
            return
        with gzip.open(text) if text.suffix == ".gz" else text.open("rb") as source:
            file.writelines(line.decode("utf-8") for _, line in zip(range(lines), source, strict=False))


def word_list(model: Path) -> Path:
    return model.with_suffix(".words.txt")


def measure(reader: str, model: Path) -> None:
    """Look the words up with one reader. Print the seconds, and the peak memory after the imports and at the end."""
    words = word_list(model).read_text(encoding="utf-8").split("\n")
    look_up = {"ours": prepare_ours, "fasttext": prepare_fasttext, "gensim": prepare_gensim}[reader]()
    imports = peak_mebibytes()
    start = time.perf_counter()
    vectors = look_up(model, words)
    figures = {"seconds": time.perf_counter() - start, "peak": peak_mebibytes(), "imports": imports}
    import numpy as np

    np.save(model.with_suffix(f".{reader}.npy"), vectors)
    print(json.dumps(figures))


def prepare_ours() -> Callable[[Path, list[str]], Any]:
    from mtl.embedders.vector_files.vector_file import VectorFile

    return lambda model, words: VectorFile(model).read_once(words).vectors


def prepare_fasttext() -> Callable[[Path, list[str]], Any]:
    import fasttext
    import numpy as np

    def look_up(path: Path, words: list[str]) -> Any:
        model = fasttext.load_model(str(path))
        vectors = np.empty((len(words), model.get_dimension()), dtype=np.float32)
        for row, word in enumerate(words):
            vectors[row] = model.get_word_vector(word)
        return vectors

    return look_up


def prepare_gensim() -> Callable[[Path, list[str]], Any]:
    import numpy as np
    from gensim.models.fasttext import load_facebook_vectors

    def look_up(path: Path, words: list[str]) -> Any:
        keyed = load_facebook_vectors(str(path))
        vectors = np.empty((len(words), keyed.vector_size), dtype=np.float32)
        for row, word in enumerate(words):
            vectors[row] = keyed[word]
        return vectors

    return look_up


def peak_mebibytes() -> float:
    """The peak resident memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def compare_vectors(model: Path) -> None:
    """Print the largest difference between our vectors and those of each other reader."""
    import numpy as np

    ours = np.load(model.with_suffix(".ours.npy"))
    for reader in READERS[1:]:
        difference = np.abs(ours - np.load(model.with_suffix(f".{reader}.npy"))).max()
        print(f"largest difference from {reader}: {difference:.1e} (largest value: {np.abs(ours).max():.2g})")


if __name__ == "__main__":
    main()
