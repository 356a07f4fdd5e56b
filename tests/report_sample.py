"""A report as `mtl report` collects it: KLEJ's tasks and published rows, seven own runs, and markup where names may stand."""

import random
from statistics import mean, median
from typing import Any

from mtl.config.load import load_config

from mtl.tasks.suite import Suite

SEEDS = (1, 2, 3, 4, 5)
MARKUP = "<script>alert(1)</script>"
# A name, a label, a family, a method, embeddings, a variant, units, and how good it is.
RUNS = (
    ("random", "Random guess", "floor", "random", None, None, None, 0.0),
    ("constant", "Best constant", "floor", "constant", None, None, None, 0.05),
    ("svm", "SVM, TF-IDF", "floor", "svm", None, None, None, 0.62),
    ("random-frozen", "LSTM, random, frozen", "lstm", "lstm", "random", "frozen", 256, 0.66),
    ("fasttext-frozen", "LSTM, fastText, frozen", "lstm", "lstm", "fasttext", "frozen", 1024, 0.78),
    ("elmo-finetune", "LSTM, ELMo, finetune", "lstm", "lstm", "elmo", "finetune", 1024, 0.95),
    (MARKUP, "LSTM, random, attention", "lstm", "lstm", "random", "attention", 256, 0.6),
)
PARTIAL = "random-frozen"
REDUCED = ("cbd", "ar")


def report() -> dict[str, Any]:
    """The whole report; the same at every call."""
    _, suite = load_config(["suite=klej"])
    return {
        "title": "mtl report",
        "generated": "2026-11-21 10:00 UTC",
        "command": "mtl report runs --out report",
        "version": "0.1.0",
        "suites": [_suite(suite)],
    }


def _suite(suite: Suite) -> dict[str, Any]:
    tasks = [
        {"id": id, "title": task.title, "metric": task.metric, "labels": _labels(id, task.labels), "range": task.range}
        for id, task in suite.tasks.items()
    ]
    own = [_run(number, suite, *run) for number, run in enumerate(RUNS)]
    published = [_published(len(own) + number, row) for number, row in enumerate(suite.published)]
    return {
        "name": suite.name,
        "title": suite.title,
        "tasks": tasks,
        "notes": ["Where there is no dev file, dev is rows held out of the training file: cbd, dyk, psc."],
        "rows": own + published,
        "comparisons": _comparisons(own),
    }


def _labels(id: str, labels: list[str] | None) -> list[str] | None:
    return ["<b>0</b>", MARKUP] if id == "psc" else list(labels) if labels else None


def _published(number: int, row: Any) -> dict[str, Any]:
    scores = {id: {"median": s, "min": s, "max": s, "interval": None} for id, s in row.scores.items()}
    return {
        "id": f"r{number}",
        "name": row.model,
        "label": row.model,
        "source": "published",
        "family": row.family,
        "method": "lstm" if row.family == "lstm" else None,
        "embeddings": row.embeddings,
        "variant": row.variant,
        "size": None,
        "split": "test",
        "average": row.average,
        "average_interval": None,
        "partial": False,
        "missing": [],
        "reduced": [],
        "scores": scores,
        "cost": None,
        "details": None,
    }


def _run(
    number: int,
    suite: Suite,
    name: str,
    label: str,
    family: str,
    method: str,
    embeddings: str | None,
    variant: str | None,
    size: int | None,
    skill: float,
) -> dict[str, Any]:
    chance = random.Random(name)
    floor, best = suite.published[0].scores, suite.published[5].scores
    missing = ["psc"] if name == PARTIAL else []
    spread = 0.0 if method in ("constant", "svm") else 2.0
    by_seed = {
        id: {seed: floor[id] + (best[id] - floor[id]) * skill + chance.gauss(0, spread) for seed in SEEDS}
        for id in suite.tasks
        if id not in missing
    }
    scores = {id: _score(list(seeds.values())) for id, seeds in by_seed.items()}
    average = mean(score["median"] for score in scores.values())
    lstm = method == "lstm"
    parameters = (size or 0) * 40_000
    return {
        "id": f"r{number}",
        "name": name,
        "label": label,
        "source": "run",
        "family": family,
        "method": method,
        "embeddings": embeddings,
        "variant": variant,
        "size": size,
        "split": "dev",
        "average": average,
        "average_interval": [average - 1.4, average + 1.3],
        "partial": bool(missing),
        "missing": missing,
        "reduced": list(REDUCED) if name == PARTIAL else [],
        "scores": scores,
        "cost": {
            "parameters": parameters + 9_000_000 if lstm else None,
            "parameters_without_embeddings": parameters if lstm else None,
            "pretrain_seconds": chance.uniform(600, 9000) if lstm else None,
            "finetune_seconds": chance.uniform(20, 400) if method not in ("random", "constant") else 0.2,
            "peak_memory": int(chance.uniform(0.8e9, 9e9)),
            "sentences_per_second": chance.uniform(60, 900),
        },
        "details": {
            "seeds": [
                {
                    "seed": seed,
                    "scores": {id: seeds[seed] for id, seeds in by_seed.items()},
                    "average": mean(seeds[seed] for seeds in by_seed.values()),
                }
                for seed in SEEDS
            ],
            "config": {
                "embeddings.name": str(embeddings),
                "encoder.hidden_size": str(size),
                "encoder.num_layers": "2",
                "finetune.max_epochs": "10",
                "max_length": "512",
                "pretrain.learning_rate": "0.001",
                "variant": str(variant),
            },
            "inputs": {f"klej_{id}/train.tsv": f"{chance.getrandbits(256):064x}" for id in by_seed},
            "versions": {"mtl": "0.1.0", "python": "3.11.7", "torch": "2.13.0"},
            "machine": "CPU: AMD EPYC 7763, 16 threads",
            "command": f"mtl baseline suite=klej embeddings={embeddings} variant={variant} 'seeds=[1, 2, 3, 4, 5]'",
            "curves": _curves(by_seed, chance) if lstm else [],
            "classes": {id: _classes(suite, id, chance, skill) for id in by_seed},
        },
    }


def _score(values: list[float]) -> dict[str, Any]:
    middle = median(values)
    return {"median": middle, "min": min(values), "max": max(values), "interval": [middle - 3.2, middle + 2.9]}


def _curves(by_seed: dict[str, dict[int, float]], chance: random.Random) -> list[dict[str, Any]]:
    curves: list[dict[str, Any]] = []
    for seed in SEEDS:
        points = []
        for step in range(250, 3001, 250):
            part = 1 - 0.6 * 0.5 ** (step / 500)
            scores = {id: seeds[seed] * part + chance.gauss(0, 0.5) for id, seeds in by_seed.items()}
            points.append({"step": step, "average": mean(scores.values()), "loss": 2 - part, "scores": scores})
        curves.append({"stage": "pretrain", "task": None, "seed": seed, "points": points})
        for id, seeds in by_seed.items():
            points = []
            for step in range(0, 501, 50):
                score = seeds[seed] * (1 - 0.3 * 0.5 ** (step / 100))
                loss = {"loss": 1.0} if step else {}
                points.append({"step": step, "average": score, **loss, "scores": {id: score}})
            curves.append({"stage": "finetune", "task": id, "seed": seed, "points": points})
    return curves


def _classes(suite: Suite, id: str, chance: random.Random, skill: float) -> dict[str, Any]:
    task = suite.tasks[id]
    if task.labels is None:
        low, high = task.range or (0.0, 5.0)
        gold = [float(round(chance.uniform(low, high))) for _ in range(200)]
        return {"seed": 3, "points": [[right, min(high, max(low, chance.gauss(right, 1.4 - skill)))] for right in gold]}
    count = len(task.labels)
    confusion = [
        [chance.randint(60, 200) if gold == predicted else chance.randint(0, 40) for predicted in range(count)]
        for gold in range(count)
    ]
    return {"seed": 3, "confusion": confusion}


def _comparisons(own: list[dict[str, Any]]) -> dict[str, Any]:
    """A paired test for each two runs, but for the random guess, which is compared with none."""
    comparisons = {}
    for later in range(2, len(own)):
        for earlier in range(1, later):
            left, right = own[later], own[earlier]
            tests = {
                id: _test(score["median"] - right["scores"][id]["median"])
                for id, score in left["scores"].items()
                if id in right["scores"]
            }
            tests["average"] = _test(mean(test["difference"] for test in tests.values()))
            comparisons[f"{left['id']}|{right['id']}"] = tests
    return comparisons


def _test(difference: float) -> dict[str, Any]:
    """Of an interval of 2.5 on either side; a difference of more than 8 is decided with Holm's correction, too."""
    decided = "better" if difference > 0 else "worse"
    return {
        "difference": difference,
        "low": difference - 2.5,
        "high": difference + 2.5,
        "p": 0.0004 if abs(difference) > 8 else 0.0123 if abs(difference) > 2.5 else 0.25,
        "p_holm": 0.02 if abs(difference) > 8 else 0.5 if abs(difference) > 2.5 else 1.0,
        "verdict": decided if abs(difference) > 2.5 else "undecided",
        "verdict_holm": decided if abs(difference) > 8 else "undecided",
    }
