"""The software versions and the kind of machine that a result was computed with."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import torch

import mtl
from mtl.device import CPU_INFORMATION

TRANSFORMERS = ("transformers", "tokenizers")  # installed on demand
PACKAGES = (
    "torch",
    "pytorch-lightning",
    "torchmetrics",
    "numpy",
    "scipy",
    "scikit-learn",
    "sacremoses",
    "fasttext",
    *TRANSFORMERS,
)


def versions() -> dict[str, str]:
    """The version of mtl, of Python, and of each installed package that a score may depend on, by name."""
    found = {"mtl": mtl.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine(device: torch.device) -> str:
    """The CPU's model and threads ("CPU: …, 4 of 8 threads"), or the GPU's model and float32 mode ("GPU: …, float32 ieee")."""
    if device.type == "cuda":
        precision = torch.backends.cudnn.rnn.fp32_precision  # type: ignore[attr-defined]
        return f"GPU: {torch.cuda.get_device_name()}, float32 {precision}"
    if device.type != "cpu":
        return f"GPU: {device.type}"
    return f"CPU: {_processor()}, {torch.get_num_threads()} of {os.cpu_count()} threads"


def _processor() -> str:
    if CPU_INFORMATION.is_file():
        for line in CPU_INFORMATION.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
