"""Run every method, variant and form of output on the embedded suites, and write the SHA-256 of all that a user gets.

Before and after a change that must not change results, on one machine:

    python tools/result_hashes.py before.json
    python tools/result_hashes.py after.json --compare before.json

It takes some minutes on one core. Each command runs in a process of its own with one thread. What is measured (seconds, memory, speed) is
left out of the hashes, and so are logs and locks; before the report, the costs of all runs are replaced by fixed ones.
Then reports get a fixed date.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
SMALL = (
    "seeds=[1] trainer.threads=1 encoder.hidden_size=8 head.hidden_size=16 head.attention_size=8 pretrain.max_steps=8"
    " pretrain.validate_every=4 finetune.max_epochs=1"
)
KLEJ, SUPERLIM = "suite=klej-sample", "suite=superlim-sample"
VECTORS = "embeddings.path=vectors.bin embeddings.min_count=2"
ELMO = "embeddings=elmo embeddings.path=./elmo"
BERT = "method=transformer transformer.path=./bert trainer.threads=1 seeds=[1] transformer.keep=true"
PAIRS = "tasks=[cbd,cdsc-e,cdsc-r,nkjp-ner]"

# By name, commands of mtl. Later ones read what earlier ones have written.
COMMANDS = {
    "data klej": "data klej-sample",
    "data superlim": "data superlim-sample",
    "vectors": f"embeddings train fasttext {KLEJ} out=vectors.bin dim=12 epochs=1 min_count=1 bucket=2000 threads=1",
    "elmo": f"embeddings train elmo {KLEJ} out=elmo max_steps=4 validate_every=2 lstm_dim=16 projection_dim=8 threads=1",
    "bert": f"pretrain transformer {KLEJ} out=bert config=tiny max_steps=20 validate_every=10 vocab_size=400",
    **{
        f"{embeddings} {variant}": f"baseline {KLEJ} {PAIRS} {SMALL} {settings} variant={variant}"
        for embeddings, settings in {
            "random": "embeddings.dim=8",
            "fasttext": f"embeddings=fasttext {VECTORS}",
            "elmo": ELMO,
        }.items()
        for variant in ("frozen", "finetune", "attention")
    },
    "all tasks": f"baseline {KLEJ} {SMALL} embeddings.dim=8 run_dir=runs/klej-sample/all seeds=[1,2]",
    "superlim": f"baseline {SUPERLIM} {SMALL} embeddings.dim=8",
    "laptop": f"baseline {KLEJ} {PAIRS} preset=laptop {SMALL} embeddings.dim=8 head.overlap=true run_dir=runs/klej-sample/laptop",
    "jiant": f"baseline {KLEJ} {PAIRS} architecture=jiant {SMALL} embeddings.dim=8 run_dir=runs/klej-sample/jiant",
    "cosine": f"baseline {KLEJ} tasks=[cdsc-r,cdsc-e] head.pair=cosine {SMALL} embeddings.dim=8 run_dir=runs/klej-sample/cosine",
    "pairs": f"baseline {SUPERLIM} tasks=[swefaq] loss.choice=pairs {SMALL} embeddings.dim=8 run_dir=runs/superlim-sample/pairs",
    "processes": f"baseline {KLEJ} tasks=[cbd] {SMALL} embeddings.dim=8 seeds=[1,2] seeds_in_parallel=2 run_dir=runs/klej-sample/two",
    **{
        f"transformer {variant}": f"baseline {KLEJ} tasks=[cbd,cdsc-r] {BERT} {settings} variant={variant}"
        for variant, settings in {
            "finetune": "transformer.epochs=1",
            "frozen": "finetune.max_epochs=1",
        }.items()
    },
    **{
        f"{method} {suite.partition('=')[2]}": f"baseline {suite} method={method} seeds=[1]"
        for suite, methods in {
            KLEJ: ("random", "constant", "uniform", "majority", "overlap", "svm", "tree", "forest"),
            SUPERLIM: ("constant", "majority", "svm", "lead"),
        }.items()
        for method in methods
    },
    "kept floor": f"baseline {KLEJ} {PAIRS} method=logistic floor.keep=true seeds=[1]",
    "static": f"baseline {KLEJ} {PAIRS} method=static embeddings=fasttext {VECTORS.split()[0]} seeds=[1]",
    "ensemble": "ensemble runs/klej-sample/all",
    "made": "make klej-dyk out=made",
    "joined": f"baseline {SUPERLIM} method=tree floor.features=joined seeds=[1] run_dir=runs/superlim-sample/joined",
    "word vectors": f"baseline {SUPERLIM} method=word_vectors embeddings=fasttext embeddings.path=vectors.bin seeds=[1]",
    "again": f"baseline {KLEJ} {PAIRS} {SMALL} embeddings.dim=8 variant=frozen",
    "sweep": f"sweep sweep.yaml {KLEJ} tasks=[cbd] runs_dir=swept --out report-sweep",
    "plan": f"sweep sweep.yaml {KLEJ} tasks=[cbd] runs_dir=swept --plan",
    "predict": "predict runs/klej-sample/random-frozen data/klej-sample/klej_cbd/test_features.tsv --task cbd --out predicted.tsv",
    "predict bert": "predict runs/klej-sample/transformer-bert-finetune data/klej-sample/klej_cbd/test_features.tsv --task cbd",
    "encode": "encode runs/klej-sample/fasttext-frozen texts.txt --out run.npy",
    "encode elmo": "encode runs/klej-sample/elmo-frozen texts.txt --out elmo.npy",
    "encode average": "encode average texts.txt --out average.npy embeddings=fasttext embeddings.path=vectors.bin language=pl",
    "encode bert": "encode transformer texts.txt --out bert.npy path=bert",
    "export vectors": "export runs/klej-sample/fasttext-frozen --format vectors --out exported/vectors",
    "score": f"score runs/klej-sample/random-frozen/seed-1/predictions --gold runs/klej-sample/random-frozen/gold {KLEJ}",
    "check": f"check-submission runs/klej-sample/all/seed-1/submission.zip {KLEJ}",
    "check rows": f"check-submission runs/superlim-sample/random-frozen/seed-1/submission {SUPERLIM}",
    "rejoin": f"rejoin runs/superlim-sample/random-frozen/seed-1/submission {SUPERLIM} --out rejoined",
    "audit klej": f"audit {KLEJ}",
    "artefacts": f"audit --artefacts {KLEJ} tasks=[cdsc-e]",
    "near": f"audit --near {KLEJ}",
    "audit superlim": f"audit {SUPERLIM} --strict",
    "init-suite": "init-suite data/klej-sample --out proposed.yaml --language pl",
    "mteb average": "mteb average embeddings=fasttext embeddings.path=vectors.bin language=pl benchmark=bench.yaml data_dir=mteb",
    "mteb run": "mteb runs/klej-sample/fasttext-frozen benchmark=bench.yaml data_dir=mteb pooling=mean centre=true",
    "report": "report runs --out report",
    "report against": "report runs --out report-against --reference svm",
}

# Commands that end with one line and exit status 2.
BAD_INPUTS = (
    *("baseline suite=nope", "baseline sede=[1]", "baseline seeds=[1,1]", "baseline encoder.hidden_size=0"),
    *(
        "baseline method=nope",
        "baseline embeddings=nope",
        f"baseline {KLEJ} tasks=[nope]",
        f"baseline {KLEJ} data_dir=nope",
    ),
    *(
        f"baseline {KLEJ} embeddings=fasttext embeddings.path=nope.bin",
        "baseline embeddings.path=texts.txt embeddings=fasttext",
    ),
    *(
        "baseline suite=bad.yaml",
        "report nope",
        "report mteb",
        "score nope --gold data/klej-sample",
        "sweep nope",
        "sweep bad.yaml",
    ),
    *("predict nope texts.txt --task cbd", "predict runs/klej-sample/random-frozen texts.txt --task nope"),
    *(
        "predict runs/klej-sample/svm texts.txt --task cbd",
        "encode nope texts.txt --out x.npy",
        "encode average texts.txt --out x.npy",
    ),
    *(
        "export runs/klej-sample/svm --format vectors --out x",
        "export runs/klej-sample/random-frozen --format nope --out x",
    ),
    *(
        f"check-submission texts.txt {KLEJ}",
        f"rejoin nope {KLEJ} --out x",
        "mteb nope",
        "mteb average language=pl benchmark=nope",
    ),
    *(
        "data nope",
        "audit suite=nope",
        "init-suite nope",
        "embeddings train nope",
        "embeddings fetch nope",
        "pretrain transformer",
    ),
    *(f"baseline {KLEJ} {PAIRS} {SMALL} embeddings.dim=9 variant=frozen", "nope", ""),
)

SWEEP = "settings: {method: svm, seeds: [1]}\ngrid: {floor.min_count: [1, 2]}\n"
BENCH = """\
name: bench
title: Two tasks
languages: [pol]
model_languages: {pl: pol-Latn}
types:
  pairs: {title: Pairs, metric: similarity_ap, metric_title: AP, tasks: {PpcPC: {}}}
  sts: {title: STS, metric: cosine_spearman, metric_title: Spearman, tasks: {CDSC-R: {}}}
"""
MEASURED = re.compile("seconds|memory|sentences_per_second|evaluation_time|evaluation_phases|kg_co2|date")
# Logs and caches, times of files, and the report of the sweep, whose costs are measured; the report of all runs has fixed ones.
LEFT_OUT = re.compile(
    r"(^|/)(log|tensorboard|cache|__pycache__)/|\.lock$|/\.|\.partial$|^hub/|/sources\.json$|^report-sweep/(costs|index|report|mtl-files)"
)
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")  # of a report
FIXED_DATE = "2023-11-14 22:13 UTC"  # that of earlier versions, with whose hashes those of this one are compared
COST = re.compile(r"^## Cost\n(\n|\|.*\n?)*", re.MULTILINE)  # in mteb's tables
DURATION = re.compile(r"\d+ (h|min|s)\b( \d+ (min|s)\b)?|[\d,.]+ (sentences/s|GB|MB)\b|\d+(\.\d+)? s\b")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="the JSON file of hashes to write")
    parser.add_argument(
        "--compare", type=Path, help="an earlier file: print what differs; exit status 1 if anything does"
    )
    parser.add_argument("--only", default="", help="a regular expression: run only the commands whose names match")
    parser.add_argument("--keep", type=Path, help="the folder to work in, which is kept; it must not exist")
    arguments = parser.parse_args()
    work = arguments.keep or Path(tempfile.mkdtemp(prefix="mtl-results-"))
    try:
        hashes = collect(work, re.compile(arguments.only))
    finally:
        if arguments.keep is None:
            shutil.rmtree(work)
    arguments.out.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if arguments.compare is None:
        return 0
    before = json.loads(arguments.compare.read_text(encoding="utf-8"))
    differing = sorted(name for name in before | hashes if before.get(name) != hashes.get(name))
    for name in differing:
        print("missing" if name not in hashes else "new" if name not in before else "differs", name)
    print(f"{len(hashes)} hashes, {len(differing)} differ")
    return 1 if differing else 0


def collect(work: Path, only: re.Pattern[str]) -> dict[str, str]:
    """The hashes of everything that the commands write and print, by name. work: an absent or empty folder."""
    write_inputs(work)
    hashes: dict[str, str] = {}
    for name, command in COMMANDS.items():
        if not only.search(name):
            continue
        if name == "report":
            fix_costs(work)
        begin = time.monotonic()
        hashes[f"output of {name}"] = sha256(stable(name, run(work, command)))
        print(f"{name}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    for command in BAD_INPUTS if not only.pattern else ():
        hashes[f"error of {command}"] = sha256(run(work, command))
    if not only.pattern:
        hashes["killed and continued"] = killed_and_continued(work)
    fix_dates(work)
    return hashes | {path.relative_to(work).as_posix(): content_hash(path, work) for path in results(work)}


def stable(name: str, printed: bytes) -> bytes:
    """What a command has printed, without the order of the lines of two processes, and without what mteb's table has measured."""
    if name == "processes":
        return b"\n".join(sorted(printed.splitlines()))
    return COST.sub("", printed.decode()).encode() if name.startswith("mteb") else printed


def write_inputs(work: Path) -> None:
    """The files that the commands read beside those of the embedded suites."""
    work.mkdir(parents=True, exist_ok=True)
    texts = ["Ala ma kota.", "", "Żółć gęślą jaźń", "a b c d e f g", "Kraków, 2026"]
    files = {
        "texts.txt": "\n".join(texts) + "\n",
        "bad.yaml": "runs: [\n",
        "sweep.yaml": SWEEP,
        "bench.yaml": BENCH,
        **{
            f"mteb/{task}/{split}.jsonl": rows(task, split)
            for task in ("PpcPC", "CDSC-R")
            for split in ("test", "validation")
        },
    }
    for name, content in files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def rows(task: str, split: str) -> str:
    """Pairs of texts that share more words, the higher their target is."""
    words = [
        "kot",
        "pies",
        "dom",
        "las",
        "góra",
        "ptak",
        "ryba",
        "chleb",
        "woda",
        "dzień",
        "noc",
        "wiatr",
        "śnieg",
        "deszcz",
    ]
    lines = []
    for number in range(40 if split == "test" else 24):
        shift = number + (split == "test")
        one = [words[(shift * step) % len(words)] for step in (1, 2, 3, 5)]
        shared = number % 4
        other = one[:shared] + [words[(shift * step + 7) % len(words)] for step in (1, 4, 6, 9)][shared:]
        target = {"labels": int(shared > 1)} if task == "PpcPC" else {"score": float(shared + 1)}
        lines.append(
            json.dumps({"sentence1": " ".join(one), "sentence2": " ".join(other), **target}, ensure_ascii=False)
        )
    return "\n".join(lines) + "\n"


def run(work: Path, command: str, watch: Callable[[subprocess.Popen[bytes]], None] | None = None) -> bytes:
    """Run a command of mtl in the folder; return its exit status and what it printed, without durations. watch: is given the process."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(REPOSITORY),
    }
    started = subprocess.Popen(
        [sys.executable, "-m", "mtl", *shlex.split(command)],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if watch is not None:
        watch(started)
    printed = started.communicate()[0].decode("utf-8")
    lines = [DURATION.sub("TIME", line).replace(str(work), "WORK") for line in printed.splitlines()]
    # Progress lines appear from time to time.
    kept = [line for line in lines if " so far" not in line and " left" not in line and "finished: " not in line]
    return "\n".join([str(started.returncode), *kept]).encode()


def killed_and_continued(work: Path) -> str:
    """The hash of the predictions of a run that is killed in stage 1 and continued; they equal those of "random frozen"."""
    folder = work / "runs/klej-sample/killed"
    command = f"baseline {KLEJ} {PAIRS} {SMALL} embeddings.dim=8 variant=frozen cache_dir=other runs_dir=runs run_dir={folder}"
    shutil.rmtree(work / "runs/klej-sample/.stage1", ignore_errors=True)  # so that it trains stage 1 itself

    def kill(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None and not (folder / "seed-1/pretrain/last.ckpt").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)

    run(work, command, kill)
    run(work, command)
    predicted = sorted((folder / "seed-1/predictions").iterdir())
    undisturbed = work / "runs/klej-sample/random-frozen/seed-1/predictions"
    same = all(path.read_bytes() == (undisturbed / path.name).read_bytes() for path in predicted)
    shutil.rmtree(folder)
    return "equal" if same and predicted else "different"


def fix_costs(work: Path) -> None:
    """Give what was measured in summaries fixed values: reports show it."""
    for path in sorted(work.rglob("summary.json")):
        summary = json.loads(path.read_text(encoding="utf-8"))
        summary["cost"] = {key: 1 if value is not None else None for key, value in summary["cost"].items()}
        for task in summary["tasks"].values():
            task |= {key: 1 for key in task if MEASURED.search(key)}
        path.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def fix_dates(work: Path) -> None:
    """Give reports a fixed date, and the lists of their files the hashes that they have with it."""
    for list_path in sorted(work.rglob("mtl-files.json")):
        listed = list_path.read_text(encoding="utf-8")
        for path in [list_path.with_name(name) for name in ("index.html", "report.md", "report.tex")]:
            if path.exists():
                before = path.read_bytes()
                after = DATE.sub(FIXED_DATE, before.decode()).encode()
                path.write_bytes(after)
                listed = listed.replace(sha256(before), sha256(after))
        list_path.write_text(listed, encoding="utf-8")


def results(work: Path) -> Iterator[Path]:
    """The files that a user gets, in order."""
    for path in sorted(work.rglob("*")):
        if path.is_file() and not LEFT_OUT.search(path.relative_to(work).as_posix()):
            yield path


def content_hash(path: Path, work: Path) -> str:
    """The hash of a file: of checkpoints, the tensors; of JSON and of other text, what is not measured. work: the folder, whose name is left out."""
    if path.suffix == ".ckpt":
        return sha256(repr(tensors(path)).encode())
    if path.suffix == ".json":
        value = json.loads(path.read_text(encoding="utf-8").replace(str(work), "WORK"))
        return sha256(json.dumps(without_measured(value), sort_keys=True).encode())
    if path.suffix in (".md", ".txt") or path.name == "index.html":
        text = DURATION.sub("TIME", path.read_text(encoding="utf-8")).replace(str(work), "WORK")
        return sha256((COST.sub("", text) if "runs/mteb" in path.as_posix() else text).encode())
    return sha256(path.read_bytes())


def tensors(path: Path) -> list[tuple[str, tuple[int, ...], str]]:
    """The name, shape and hash of each tensor in a checkpoint, of a network or of a floor."""
    import torch

    content = torch.load(path, map_location="cpu", weights_only=True)
    named = dict(named_tensors("", content.get("state_dict", content)))
    return [(name, tuple(weight.shape), sha256(weight.numpy().tobytes())) for name, weight in sorted(named.items())]


def named_tensors(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors in a value, by the path of keys to each."""
    if isinstance(value, dict | list | tuple):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from named_tensors(f"{name}/{key}", inner)
    elif hasattr(value, "numpy"):
        yield name, value


def without_measured(value: Any) -> Any:
    """A JSON value without the keys that hold measured values."""
    if isinstance(value, dict):
        return {key: without_measured(inner) for key, inner in value.items() if not MEASURED.search(key)}
    return [without_measured(inner) for inner in value] if isinstance(value, list) else value


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
