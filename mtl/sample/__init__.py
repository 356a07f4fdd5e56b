"""The embedded suites, whose data is generated: they serve to run the whole toolkit without a download.

`SAMPLES` has the function that writes the data of each, by the suite's name. Every call, Python version and platform gives the same
bytes. The texts are not those of the benchmarks whose layout they have, and scores on them cannot be compared with published scores."""

from collections.abc import Callable
from pathlib import Path

from mtl.sample.klej.grammar import write_klej
from mtl.sample.superlim.files import write_superlim

SAMPLES: dict[str, Callable[[Path], None]] = {"klej-sample": write_klej, "superlim-sample": write_superlim}
