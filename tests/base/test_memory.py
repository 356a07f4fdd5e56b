import subprocess
import sys

import pytest

from mtl.base.errors import InputError
from mtl.base.memory import check_fits
from mtl.base.wording import format_bytes

CODE = """
import resource, torch
from mtl.base.memory import keep_memory
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        torch.empty(2**26, dtype=torch.uint8).fill_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
for setting in (int, keep_memory):
    setting()
    for _ in range(5):
        settled = faults()
    print(settled)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the settings are glibc's")
def test_kept_memory_causes_no_new_page_faults() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    default, kept = map(int, done.stdout.split())
    pages = 4 * 2**26 // 4096
    assert kept < pages / 100
    assert default > pages / 2000  # a page may be as large as 2 MB


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count differently")
def test_peak_memory_is_in_bytes() -> None:
    code = "import torch; from mtl.base.memory import peak_memory\n"
    code += "before = peak_memory(); torch.ones(2**28); print(before, peak_memory())"
    before, after = map(int, subprocess.check_output([sys.executable, "-c", code]).split())
    assert 2**30 < after < 2**30 + 1.1 * before < 2**33


def test_what_does_not_fit_is_said_with_what_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.base.memory.machine_memory", lambda: 16_630_000_000)
    check_fits(16_630_000_000, "BERT", "x")
    with pytest.raises(InputError, match="BERT needs 16.6 GB of memory, 10 MB more than this machine has; x"):
        check_fits(16_640_000_000, "BERT", "x")
    assert [format_bytes(size) for size in (999_000_000, 999_999_999)] == ["999 MB", "1.0 GB"]
