"""fastText's own library in a process of its own, for the floors and the training of vectors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# The process ends with the one that started it, also where that one is killed: else it would write vectors that no one waits for.
TRAIN = """
import ctypes, json, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
if os.getppid() != int(sys.argv[3]):
    sys.exit(1)
import fasttext
arguments = json.loads(sys.argv[1])
if sys.argv[4] == "train_unsupervised":  # which takes the seed from its defaults alone
    fasttext.FastText.unsupervised_default["seed"] = arguments.pop("seed")
getattr(fasttext, sys.argv[4])(**arguments).save_model(sys.argv[2])
"""


def training_process(function: str, arguments: dict[str, Any], out: Path) -> "subprocess.Popen[str]":
    """A process in which fastText trains a model, and the C library allocates memory that is set to zero. So all initial vectors have defined values
    with one thread, too: only one thread gives the same vectors each time. The function, train_unsupervised or train_supervised, writes `out`."""
    command = [sys.executable, "-c", TRAIN, json.dumps(arguments), str(out), str(os.getpid()), function]
    environment = {**os.environ, "MALLOC_PERTURB_": "255"}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
