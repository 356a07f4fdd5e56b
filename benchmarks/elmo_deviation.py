"""The largest deviation of an ELMo's layers from a plain float64 computation of the same formulas.

    python benchmarks/elmo_deviation.py --elmo embeddings/klej-sample-elmo

The sentences have 1 to 40 words, the batches 1 to 64 sentences. The plain computation is that of the tests
(tests/elmo_reference.py); it shares no code with the package.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from elmo_files import WORDS, sentences
from elmo_reference import Reference

from mtl.embedders.elmo.embeddings import elmo_files
from mtl.embedders.elmo.model import ELMo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elmo", type=Path, required=True, help="a folder with options.json and weights.hdf5")
    arguments = parser.parse_args()
    files = elmo_files(arguments.elmo)
    elmo, reference = ELMo(*files), Reference(*files)
    texts = [WORDS, *([word] for word in WORDS), *sentences(64, 40)]
    expected = [reference.layers(text) for text in texts]
    print(f"{len(texts)} sentences, values up to {max(abs(layers).max() for layers in expected):.1f}")
    for batch in (1, 2, 7, 16, 64):
        deviation = max(
            abs(ours.numpy() - theirs).max()
            for start in range(0, len(texts), batch)
            for ours, theirs in zip(elmo.layers(texts[start : start + batch]), expected[start:], strict=False)
        )
        print(f"batches of {batch}: {deviation:.1e}", flush=True)


if __name__ == "__main__":
    main()
