"""fastText's own library in a process of its own, for the floors and the training of vectors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# The process's arguments: the id of the process that starts it, fastText's function, its keyword arguments in JSON, and the file to write.
TRAIN = """
import ctypes, json, os, sys
parent, function, arguments, out = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
# End with the parent, also where that one is killed: else this process would write vectors that no one waits for.
if sys.platform == "linux":
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
if os.getppid() != parent:  # it ended before the call
    sys.exit(1)
import fasttext
if function == "train_unsupervised":  # which takes the seed from its defaults alone
    fasttext.FastText.unsupervised_default["seed"] = arguments.pop("seed")
getattr(fasttext, function)(**arguments).save_model(out)
"""


def training_process(function: str, arguments: dict[str, Any], out: Path) -> "subprocess.Popen[str]":
    """A process in which fastText trains a model and writes it to `out`. The function is train_unsupervised, whose keyword arguments must have a
    seed, or train_supervised. Only one thread gives the same vectors each time."""
    command = [sys.executable, "-c", TRAIN, str(os.getpid()), function, json.dumps(arguments), str(out)]
    # glibc fills new memory with the complement of this byte, zero. With one thread, fastText takes most first vectors from memory as it is.
    environment = {**os.environ, "MALLOC_PERTURB_": "255"}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
