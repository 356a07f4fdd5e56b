"""The run of `mtl import`: the predictions of another system, what is known of it, and the method that gives them back (`Imported`). Such a run
stands in tables, reports, tests and submissions as those that mtl trained."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.names import one_spelling
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.version import VERSION
from mtl.data.sampled import Key, read_key, sample_text, scored_file
from mtl.data.splits import check_present
from mtl.jobs.job import Job, load_job
from mtl.jobs.values import Indices, PredictedValues, predicted_values
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.submissions.answers import check_labels, read_labels
from mtl.submissions.data_rows import DataRows, Rows, Sources, Unfit, put_to_rows, read_sources
from mtl.submissions.files import SPLITS, is_entry, predicted_splits, prediction_names, read_files
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import is_unknown
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class PredictedFiles:
    """The predictions of one seed, in a zip or a folder, in the forms that mtl writes. `PredictedValues` has the same methods."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, or of the names and contents of the files in the folder."""
        if self.path.is_file():
            return sha256(self.path)
        files = sorted(file for file in self.path.rglob("*") if file.is_file())
        listed = "".join(f"{sha256(file)}  {file.relative_to(self.path).as_posix()}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for. Raises InputError for files of others, and if there are none."""
        splits = predicted_splits(self.path, read_files(self.path, lambda name: False)[1], suite, beside=is_entry)
        if not splits:
            raise self.error(f"has no predictions of suite {suite.name}")
        return splits

    def sources(self, suite: Suite, rows: Rows) -> Sources:
        """The predictions for these rows, by task id and split."""
        names = {name for name, (id, _) in prediction_names(suite).items() if id in rows}
        return read_sources(self.path, read_files(self.path, names.__contains__)[0], suite, rows)

    def error(self, problem: str) -> InputError:
        return InputError(problem, path=self.path)


def import_job(
    name: str,
    predictions: Sequence[Path | Mapping[str, Any]],
    settings: Mapping[str, Any],
    indices: Indices | None = None,
) -> Job:
    """The job whose run has these predictions. It has the tasks that `tasks` names, or else those that each seed has scored rows of. Raises
    InputError for a name that no folder can have, what is no prediction, and bad settings.

    Args:
        name: the name of the run's folder, below the suite's, and of the system where system.yaml has no title.
        predictions: for each seed a zip or a folder; or for each seed values, see `mtl.import_predictions`.
        settings: the settings of a run, and four more. `seed`: a number or a list, otherwise 1, 2, …. `system`: the path of a YAML file
            or its content (`System`). `labels`: what the answers of a language model mean, the path of a YAML file or its content
            (`mtl.submissions.answers`). `rows`: the path of the key file of a sample (`mtl.data.sampled`), whose rows alone are scored;
            then the tasks are those of the key.
        indices: of the frames that the suite was made of (`mtl.jobs.values`).
    """
    name = one_spelling(name)
    if not re.fullmatch(r"[\w.+-]{1,200}", name) or name[0] in ".-":
        raise InputError(f"{name!r} names a folder; use letters, digits, '.', '_', '+' and '-'", key="NAME")
    if not predictions:
        raise InputError("name the zip or the folder of its predictions; for several seeds one each", key=name)
    paths = [path for path in predictions if isinstance(path, Path)]
    merged = {**settings, "method": "imported", "imported.predictions": [str(path) for path in paths]}
    further = {key: merged.pop(key, None) for key in ("seed", "system", "labels", "rows")}
    seeds = further["seed"]
    if seeds is None:
        seeds = list(range(1, len(predictions) + 1))
    merged["seeds"] = seeds if isinstance(seeds, list) else [seeds]
    described, path = _content("system", further["system"], read_yaml)
    system = asdict(typed(System, described, path=path or "system"))
    facts = {f"imported.{key}": value for key, value in system.items() if value is not None}
    job = load_job({"imported.title": name, **merged, **facts})
    config, suite = job.config, job.suite
    values = [] if paths else predicted_values(predictions, suite, indices or {})
    sources: Sequence[PredictedFiles | PredictedValues] = values or [*map(PredictedFiles, paths)]
    labels, path = _content("labels", further["labels"], lambda path: read_labels(path, suite))
    changed: dict[str, Any] = {}
    if further["labels"] is not None:
        changed = {"labels": labels, "labels_sha256": sha256(path)} if path else {"labels": check_labels(labels, suite)}
    samples = {} if further["rows"] is None else key_of(further["rows"], job)["tasks"]
    tasks = config.tasks
    if merged.get("tasks") is None:
        splits = [source.splits(suite) for source in sources]
        tasks, left_out = [], dict[str, list[str]]()
        for id, task in suite.tasks.items():
            file, split = scored_file(task, job.data_dir), task.scored_split
            if not all((id, split) in predicted for predicted in splits):
                problem = f"predictions for {split}, the scored split, are missing"
            elif not file.is_file():
                problem = f"{file} is missing"
            elif samples and id not in samples:
                problem = "the sample has no rows of this task"
            else:
                tasks.append(id)
                continue
            if any(id == predicted_id for predicted in splits for predicted_id, _ in predicted):
                left_out.setdefault(problem, []).append(id)
        for problem, ids in left_out.items():
            logger.info("left out: %s, since %s", ", ".join(ids), problem)
        if not tasks:
            complete = [task for id, task in suite.tasks.items() if all((id, task.scored_split) in of for of in splits)]
            check_present(suite, complete, job.data_dir)
            raise sources[0].error(f"no task of suite {suite.name} has predictions for its scored rows")
    if samples:
        sampled = [task.id for task in suite.choose(tasks)]
        if outside := [id for id in sampled if id not in samples]:
            raise InputError(f"the sample has no rows of {outside[0]}; it has {', '.join(samples)}", key="tasks")
        changed["rows"] = {id: sample["lines"] for id, sample in samples.items() if id in sampled}
    run_dir = config.run_dir or f"{config.runs_dir}/{suite.name}/{name}"
    config = replace(config, tasks=tasks, run_dir=run_dir, imported=replace(config.imported, **changed))
    return replace(job, config=config, predictions=values)


def key_of(path: Any, job: Job) -> Key:
    """The key file that the setting `rows` names. Raises InputError as `mtl.data.sampled.read_key`."""
    if not isinstance(path, str | Path):
        raise InputError("must be the path of the key.json that mtl annotate wrote", key="rows", value=path)
    return read_key(Path(path), job.suite, job.data_dir)


def _content(key: str, value: Any, read: Callable[[Path], Any]) -> tuple[Any, Path | None]:
    """What a setting holds, and its path: the content of a YAML file, or the mapping that the setting is; None is an empty one."""
    if value is None or isinstance(value, Mapping):
        return value or {}, None
    if not isinstance(value, str | Path):
        raise InputError("must be the path of a YAML file, or its content as keys and values", key=key, value=value)
    return read(Path(value)), Path(value)


def fingerprint_name(seed: int) -> str:
    """What a run's inputs call the predictions of a seed."""
    return f"predictions of seed {seed}"


class Imported(Method):
    """`mtl.methods.method.Method` of predictions that another system made."""

    def __init__(self, job: Job, request: BuildRequest) -> None:
        """Puts all predictions to their rows, so that nothing is written if a file is wrong. Raises InputError."""
        super().__init__(request)
        self.system = self.config.imported
        paths = [PredictedFiles(Path(path)) for path in self.system.predictions]
        seeds: Sequence[PredictedFiles | PredictedValues] = job.predictions or paths
        if len(seeds) != len(self.config.seeds):
            problem = f"needs predictions for each of the {len(self.config.seeds)} seeds, and has {len(seeds)}"
            raise InputError(problem, key="imported.predictions")
        labels = check_labels(self.system.labels, self.suite)
        rows = _data_rows(request)
        self._predictions: dict[int, dict[str, Predictions]] = {}
        unfit: dict[int, Unfit] = {}
        sums: list[str] = []
        for seed, source in zip(self.config.seeds, seeds, strict=True):
            predicted, unfit[seed] = put_to_rows(source.sources(self.suite, rows), self.suite, rows, labels)
            for task in self.dataset.tasks:
                if task.scored_split not in predicted[task.id]:
                    problem = f"no predictions of task {task.id} for {task.scored_split}, which scores it"
                    raise source.error(f"{problem}; name other tasks with tasks=")
            self._predictions[seed] = predicted
            self.fingerprints[fingerprint_name(seed)] = digest = source.fingerprint
            sums.append(f"{source.name} ({digest})")
        self.facts = self._facts(sums, _notes_of_answers(rows, unfit, self.system.labels_sha256))
        self.facts["notes"] += [
            f"{task.id} {split}, seed {seed}: {remark}."
            for seed, predicted in self._predictions.items()
            for task in self.dataset.tasks
            for split, predictions in predicted[task.id].items()
            if (remark := target_kind(task).remark(predictions)) is not None
        ]
        on_dev = [task.id for task in self.dataset.tasks if task.scored_split == "dev"]
        held_out = [id for id in on_dev if id in self.dataset.held_out]
        if held_out and not self.system.held_out_unseen:
            self.facts["maybe_trained_on"] = held_out
            self.facts["notes"].append(
                f"‡ scored on rows of the training file that mtl holds out: {', '.join(held_out)}. A system that was trained on the whole file"
                " has seen them. mtl data --write-splits writes the train and dev that mtl uses; held_out_unseen: true in system.yaml says"
                " that the system was trained on this train alone."
            )

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predictions[seed][task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What the system's makers say of it; None for what they do not say."""
        return {
            "parameters": self.system.parameters,
            "parameters_without_embeddings": None,
            "pretrain_seconds": None,
            "finetune_seconds": self.system.seconds,
            "peak_memory": None,
            "sentences_per_second": None,
        }

    def _facts(self, sums: Sequence[str], notes_of_answers: Sequence[str]) -> dict[str, Any]:
        """What the summary says of the system. `sums` has the name and the SHA-256 sum of each seed's predictions."""
        system = self.system
        sizes = sample_text(self.dataset.samples, {task.id: task.scored_split for task in self.dataset.tasks})
        about = {"training text": system.text, "link": system.link, "licence": system.license}
        return {
            "notes": [
                *(system.notes or ()),
                *([f"Scored on a sample of the rows alone: {sizes}."] if sizes else []),
                f"Imported on {now():%Y-%m-%d}, not trained by mtl, from predictions with these SHA-256 sums: {'; '.join(sums)}.",
                "; ".join(f"{what}: {value or UNKNOWN}" for what, value in about.items()) + ".",
                *notes_of_answers,
            ],
            "machine": [system.hardware or UNKNOWN],
            "versions": [{"mtl": VERSION}],
        }


def _data_rows(request: BuildRequest) -> Rows:
    """The dev and test rows of the run's tasks."""
    dataset = request.dataset
    rows: dict[str, dict[str, DataRows]] = {}
    for task in dataset.tasks:
        rows[task.id] = {}
        for split, part in dataset.splits[task.id].items():
            held_out = dataset.held_out.get(task.id) if split == "dev" else None
            file = task.path("train" if held_out else split, request.data_dir)
            if split in SPLITS and file is not None:
                sample = dataset.samples.get(task.id) if split == task.scored_split else None
                lines = held_out if sample is None else sample.lines
                rows[task.id][split] = DataRows(task, split, file, part.targets, part.scored.candidates, lines, sample)
    return rows


def _notes_of_answers(rows: Rows, unfit: Mapping[int, Unfit], labels_sha256: str | None) -> list[str]:
    """How predictions were read as answers, and how many answers, by seed, fit no label; empty if none were."""
    tasks = list(next(iter(unfit.values())))
    if not tasks:
        return []
    counted: dict[bool, list[str]] = {True: [], False: []}  # by whether the rows have gold targets
    for id in tasks:
        for split, part in rows[id].items():
            counts = {seed: counts_of[id][split] for seed, counts_of in unfit.items() if split in counts_of[id]}
            if any(counts.values()):
                seeds = f" (seeds {', '.join(map(str, counts))})" if len(unfit) > 1 else ""
                shares = ", ".join(f"{count:,}" for count in counts.values())
                known = not any(is_unknown(target) for target in part.targets)
                counted[known].append(f"{id} {split} {shares} of {len(part):,}{seeds}")
    file = f", from a file with the SHA-256 sum {labels_sha256}" if labels_sha256 else ""
    notes = [
        f"Answers were read as labels by the spellings in config.yaml (imported.labels){file}: {', '.join(tasks)}.",
        f"Answers that fit no label, counted as wrong: {'; '.join(counted[True]) or 'none'}.",
    ]
    if counted[False]:
        notes.append(
            "Answers that fit no label, on rows whose targets are not known here, where the first label stands for them: "
            f"{'; '.join(counted[False])}."
        )
    return notes
