"""Break what the slow tests guard, one thing at a time, and see which tests notice.

    python tools/mutations.py                 # each fault, with the tests that should notice it
    python tools/mutations.py --fast          # the same tests without the slow ones, as in make test
    python tools/mutations.py --only lock

The faults are made in a copy of the repository. The exit status is 1 if one is not noticed. It takes some minutes.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
COPIED = (
    "mtl",
    "tests",
    "tools",
    "configs",
    "embeddings",
    "docs",
    "setup.cfg",
    "pyproject.toml",
    "README.md",
    "Makefile",
)
FAST = "not slow and not ray and not browser"


@dataclass(frozen=True)
class Mutation:
    """A fault: in a file, a text is replaced by another.

    Attributes:
        what: the fault in words.
        file: below `mtl/`.
        old: the text, which occurs once in the file.
        new: what stands in its place.
        tests: files or folders below `tests/`, some of which must fail.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "lock: a lock that another process holds is taken",
        "base/locks.py",
        "system_lock = _system_lock(path, timeout=0)",
        "system_lock = nullcontext()",
        ("base/test_locks.py", "runs/test_folder.py", "jobs/test_together_baseline.py"),
    ),
    Mutation(
        "checkpoint: equal averages replace the best weights",
        "training/stage.py",
        "average > self.score + TIE",
        "average >= self.score",
        ("training",),
    ),
    Mutation(
        "checkpoint: the best score is forgotten when a stage resumes",
        "training/stage.py",
        'self.score = state["score"]',
        "self.score = None",
        ("training", "jobs/test_together_baseline.py"),
    ),
    Mutation(
        "early stopping: a stage that resumes goes on though its patience is used up",
        "training/stage.py",
        "if self.wait_count >= self.patience:",
        "if False:",
        ("training", "jobs/test_together_baseline.py"),
    ),
    Mutation(
        "schedule: each pass over a task's rows has the same order",
        "training/schedule.py",
        "[self.seed, 1, zlib.crc32(task.encode()), number]",
        "[self.seed, 1, zlib.crc32(task.encode())]",
        ("training",),
    ),
    Mutation(
        "schedule: the draws of tasks do not depend on the seed",
        "training/schedule.py",
        "np.random.default_rng([seed, 0]).random(steps)",
        "np.random.default_rng([0, 0]).random(steps)",
        ("training",),
    ),
    Mutation(
        "seeds: a shared stage 1 has the same key for every seed",
        "methods/lstm/stage1.py",
        "dict(inputs), seed, where, versions]",
        "dict(inputs), where, versions]",
        ("methods/lstm/test_stage1.py",),
    ),
    Mutation(
        "fingerprint: a shared stage 1 ignores its inputs",
        "methods/lstm/stage1.py",
        "list(tasks), dict(inputs), seed",
        "list(tasks), seed",
        ("methods/lstm/test_stage1.py",),
    ),
    Mutation(
        "fingerprint: a transformer's lacks its configuration",
        "methods/transformer/pretrained.py",
        "content = hashlib.sha256(self.form().encode())",
        "content = hashlib.sha256()",
        ("vectors/encoders/test_transformer.py", "methods/transformer"),
    ),
    Mutation(
        "fingerprint: cached tokens do not depend on max_length",
        "data/text.py",
        "repr((FORMAT, language, max_length, moses_version()))",
        "repr((FORMAT, language, moses_version()))",
        ("data",),
    ),
    Mutation(
        "mask: the maximum over time sees the steps past a text's end",
        "model/encoder.py",
        "return outputs.masked_fill(past_end(outputs, lengths)[:, :, None], -math.inf).amax(dim=1)",
        "return outputs.amax(dim=1)",
        ("model", "methods/lstm/test_trained.py"),
    ),
    Mutation(
        "mask: attention sees the steps past the other text's end",
        "model/heads.py",
        "scores.masked_fill(past[:, None, :], -math.inf).softmax(dim=2)",
        "scores.softmax(dim=2)",
        ("model",),
    ),
    Mutation(
        "mask: padding keeps the first word of the vocabulary",
        "model/sequences.py",
        "gathered[~inside] = 0",
        "pass",
        ("model", "embedders", "methods/lstm/test_trained.py"),
    ),
    Mutation(
        "fold: held-out rows are also training rows",
        "data/held_out.py",
        "if number not in held_out]",
        "]",
        ("data",),
    ),
    Mutation(
        "fold: rows with the same texts may be on both sides",
        "data/held_out.py",
        "[(first_keys[text], key) for text, key in zip(texts, keys, strict=True)]",
        "[]",
        ("data",),
    ),
    Mutation(
        "statistics: resamples ignore the groups of rows",
        "stats/resampling.py",
        "RowSet(key, int(group_of_row.max()) + 1), group_of_row)",
        "RowSet(key, len(group_of_row)), np.arange(len(group_of_row)))",
        ("stats",),
    ),
    Mutation(
        "statistics: Holm's correction does not step down",
        "stats/holm.py",
        "np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))",
        "ordered",
        ("stats",),
    ),
    Mutation(
        "statistics: a run whose seeds agree by chance has no more variance than they show",
        "stats/seed_variance.py",
        "np.maximum(alone, raised)",
        "alone",
        ("stats",),
    ),
    Mutation(
        "fold: rows of a group may be in several folds of the linear models",
        "methods/lstm/out_of_fold.py",
        "if train.groups is not None:",
        "if False:",
        ("methods",),
    ),
    Mutation(
        "submission: a zip has the time at which it was written",
        "submissions/line_formats.py",
        "zipfile.ZipInfo(name)",
        "name",
        ("submissions",),
    ),
    Mutation(
        "loss: labels are not balanced",
        "tasks/head_targets.py",
        "weights = None if self.weights is None else outputs.new_tensor(self.weights)",
        "weights = None",
        ("tasks",),
    ),
    Mutation(
        "prediction: a number may leave its range",
        "tasks/kinds/number.py",
        "return np.clip(codes, *self.task.bounds)",
        "return codes",
        ("tasks",),
    ),
    Mutation(
        "other machine: a seed that runs apart does not compare its inputs",
        "jobs/together.py",
        "if changed := folder.changed_inputs({**dataset.fingerprints, **method.fingerprints}):",
        "if changed := []:",
        ("jobs/test_seed.py", "jobs/engines"),
    ),
    Mutation(
        "errors: a message loses the line of the file",
        "base/errors.py",
        'f"{self.path}:{self.line}" if self.path',
        'f"{self.path}" if self.path',
        ("base/test_errors.py",),
    ),
)


def noticed(mutation: Mutation, copy: Path, expression: str) -> bool:
    """Whether a test fails with the fault.

    Args:
        mutation: the fault.
        copy: a copy of the repository, which has no fault before and after.
        expression: of the tests' markers, as for `pytest -m`.
    """
    path = copy / "mtl" / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        sys.exit(f"{mutation.file}: has {mutation.old!r} {text.count(mutation.old)} times; mend tools/mutations.py")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    options = ["-q", "-x", "-m", expression, "-p", "no:cacheprovider", "--numprocesses", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"tests/{name}" for name in mutation.tests)],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    path.write_text(text, encoding="utf-8")
    failed = re.search(r"\b\d+ failed", done.stdout) is not None
    if not failed and done.returncode not in (0, 5):  # 5: no test was chosen
        sys.exit(f"{mutation.what}: pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fast", action="store_true", help="without the slow tests")
    parser.add_argument("--only", default="", help="the faults whose names have this text")
    arguments = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory(prefix="mtl-mutations-") as folder:
        copy = Path(folder)
        for name in COPIED:
            source = REPOSITORY / name
            shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy / name)
        for mutation in (mutation for mutation in MUTATIONS if arguments.only in mutation.what):
            found = noticed(mutation, copy, FAST if arguments.fast else "")
            print(f"{'noticed' if found else 'MISSED '}  {mutation.what}", flush=True)
            missed += [] if found else [mutation.what]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
