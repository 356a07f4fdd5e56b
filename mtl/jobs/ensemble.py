"""Ensembles: the averaged outputs of finished runs (probabilities or numbers), with predictions of their own.
An ensemble of all seeds of its runs is one system; with `ensemble.by_seed`, each seed averages the models of this seed alone. A decision
threshold is chosen on dev in the way of the first run that has chosen its own (`finetune.threshold`); theirs are taken back first."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.log import logger
from mtl.base.progress import Progress, hidden_progress
from mtl.base.settings.schema import Config
from mtl.base.untrusted import read_json
from mtl.base.wording import counted
from mtl.data.dataset import Dataset, first_choices, input_rows
from mtl.data.examples import Row
from mtl.jobs.job import Job, load_job
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.predictor import Predictor
from mtl.methods.thresholds import SHIFTS, chosen_shifts, recorded_shifts, shift_outputs, shift_text, shifted_outputs
from mtl.runs.folder import RunFolder, finetune_folder
from mtl.runs.records import SeedScores, Summary, read_summary
from mtl.runs.summary import common_facts, joint_cost
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS

FORMAT = 1  # increase it when the same members give other predictions
COPIED = ("suite", "data_dir", "held_out", "choosing_share", "tasks")  # settings that it takes from its first run
RUNS = "ensemble.runs"
BLOCK = 4096  # rows
MODELS = "*.ckpt"  # the files of a seed's models, in any of its folders


def ensemble_job(runs: Sequence[str], settings: Mapping[str, Any]) -> Job:
    """The job of an ensemble of the finished runs in these folders. Its suite, data, held-out rows and tasks are those of the first run, and with
    `ensemble.by_seed` so are its seeds; `settings` that name others (as in `mtl.jobs.job.load_job`) come first. Dev rows that repeat a training
    row choose if they chose in one of the runs. Raises InputError for a folder without a finished run, and bad settings."""
    if not runs:
        raise InputError("name the folder of a finished run, or of several", key="RUN")
    configs = [Member.open(run).summary["config"] for run in runs]
    copied = {key: configs[0][key] for key in COPIED if configs[0].get(key) is not None}
    copied["choose_on_repeats"] = any(config.get("choose_on_repeats", True) for config in configs)
    merged = {**copied, **settings, "method": "ensemble", RUNS: list(runs)}
    job = load_job(merged)
    return load_job({"seeds": configs[0]["seeds"], **merged}) if job.config.ensemble.by_seed else job


@dataclass(frozen=True)
class Member:
    """A finished run whose models are asked."""

    folder: RunFolder

    @classmethod
    def open(cls, run: str) -> "Member":
        """The run in a folder. Raises InputError for a folder without a finished run."""
        folder = RunFolder(Path(run))
        if not folder.summary.exists():
            raise InputError("is no folder of a finished run", key=RUNS, value=run)
        return cls(folder)

    @cached_property
    def summary(self) -> Summary:
        return read_summary(self.folder.summary)

    @cached_property
    def inputs(self) -> dict[str, str]:
        return self.folder.read_inputs()

    def check_rows(self, tasks: Sequence[Task], dataset: Dataset, config: Config) -> None:
        """Raise InputError unless the same rows of these tasks trained it and chose: otherwise rows that score may be among its own."""
        named = str(self.folder.path)
        for task in tasks:
            names = [f"tasks.{task.id}", *task.relative_paths("train")]
            if any(self.inputs.get(name) != dataset.fingerprints[name] for name in names):
                raise InputError(f"was trained on other rows of {task.id}", key=RUNS, value=named)
        for key, share in (("held_out", config.held_out), ("choosing_share", config.choosing_share)):
            if (member_share := self.summary["config"].get(key)) != share:
                message = f"was made with {key}={member_share}, and this run has {share}: it has seen other rows"
                raise InputError(message, key=RUNS, value=named)

    def content(self) -> tuple[object, ...]:
        """What its outputs follow from: its inputs, its configuration and its models, as plain values."""
        files = [path for seed in self.summary["seeds"] for path in sorted(self.folder.seed(seed).rglob(MODELS))]
        return sorted(self.inputs.items()), [sha256(path) for path in (self.folder.config, *files)]

    def outputs(
        self, seeds: Sequence[int], rows: Mapping[str, Sequence[Row]], tasks: Sequence[Task], device: str, bar: Progress
    ) -> Iterator[tuple[Task, np.ndarray]]:
        """For each of these seeds, each task and the outputs of the seed's model for its rows (by task id), float32 (inputs, outputs), as before a
        threshold was chosen. The bar advances by the number of rows. Raises InputError for a run whose models are not kept."""
        for seed in seeds:
            predictor = Predictor.load(self.folder.path, seed, device=device)
            for task in tasks:
                parts = []
                for start in range(0, len(rows[task.id]), BLOCK):
                    block = rows[task.id][start : start + BLOCK]
                    with hidden_progress():
                        parts.append(predictor.model.outputs(task, block))
                    bar.advance(len(block))
                head = predictor.suite.tasks[task.answered_by or task.id]
                folder, joined = finetune_folder(self.folder.seed(seed), head.id), np.concatenate(parts)
                if shifted_outputs(head) and (folder / WEIGHTS["best"]).exists():
                    shift_outputs(joined, recorded_shifts(folder, head) or {}, sign=-1)
                yield task, joined


class Ensemble(Method):
    """`mtl.methods.method.Method` of an ensemble. It trains nothing, and keeps no models of its own."""

    def __init__(self, job: Job, request: BuildRequest) -> None:
        """Raises InputError unless all runs were trained on the training rows of the ensemble's tasks and, by seed, with its seeds."""
        super().__init__(request)
        config, dataset = self.config, self.dataset
        self.accelerator = config.trainer.accelerator
        self.members = [Member.open(run) for run in config.ensemble.runs]
        self.by_seed = config.ensemble.by_seed
        for member in self.members:
            if self.by_seed and (lacking := set(config.seeds) - set(member.summary["seeds"])):
                message = f"{member.folder.path} has no seed {min(lacking)}; name seeds that all runs have with seeds="
                raise InputError(message, key="seeds", value=config.seeds)
            if missing := [task.id for task in dataset.trained_tasks if task.id not in member.summary["tasks"]]:
                message = f"{member.folder.path} has no {missing[0]}; name the tasks that all runs have with tasks="
                raise InputError(message, key=RUNS)
            member.check_rows(dataset.trained_tasks, dataset, config)
        content = json.dumps((FORMAT, [member.content() for member in self.members]))
        self.fingerprints = {"members": hashlib.sha256(content.encode()).hexdigest()}
        ways = [member.summary["config"].get("finetune.threshold") for member in self.members]
        self.shift_way = next((way for way in ways if way in SHIFTS), None)
        self.shifted_tasks = [task.id for task in dataset.trained_tasks if self.shift_way and shifted_outputs(task)]
        self.facts = self._facts()

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Choose thresholds on the dev rows of the tasks that heads were trained on, and predict."""
        outputs = self._outputs(seed)
        for task in self.dataset.trained_tasks:
            if self.shift_way is not None and task.id in self.shifted_tasks:
                split, rows = self.dataset.choosing_split(task), self.dataset.choosing_rows(task)
                codes = target_kind(task).head.encode(self.dataset.splits[task.id][split].targets[rows], [])
                shifts = chosen_shifts(self.shift_way, task, outputs[task.id][split][rows], codes)
                logger.info("ensemble · %s · threshold on dev: %s", task.id, shift_text(shifts))
                for answered in self.dataset.answered(task):
                    for part in outputs[answered.id].values():
                        shift_outputs(part, shifts)
        for task in self.dataset.tasks:
            yield task, {split: self._decided(task, split, part) for split, part in outputs[task.id].items()}

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """That of all its models together: parameters and seconds are summed, memory is the largest, and a text takes the sum of its times."""
        models = [(member, number) for member in self.members for number in self._seeds(member, seed)]
        return joint_cost([read_json(member.folder.scores(number), SeedScores)["cost"] for member, number in models])

    def _seeds(self, member: Member, seed: int) -> list[int]:
        """The seeds of a member whose models this seed of the ensemble averages."""
        return [seed] if self.by_seed else member.summary["seeds"]

    def _outputs(self, seed: int) -> dict[str, dict[str, np.ndarray]]:
        """The ensemble's outputs (inputs, outputs) for all rows but training rows, by task id and split."""
        tasks = self.dataset.tasks
        splits = {task.id: self.to_predict(task) for task in tasks}
        rows = {
            task.id: [row for split in splits[task.id].values() for row in input_rows(self.dataset, task, split)]
            for task in tasks
        }
        by_model: dict[str, list[torch.Tensor]] = {task.id: [] for task in tasks}
        models = sum(len(self._seeds(member, seed)) for member in self.members)
        with Progress("asking the ensemble", models * sum(map(len, rows.values())), "rows") as bar:
            for member in self.members:
                for task, output in member.outputs(self._seeds(member, seed), rows, tasks, self.accelerator, bar):
                    by_model[task.id].append(torch.from_numpy(output))
        outputs = {}
        for task in tasks:
            sizes = [split.sizes for split in splits[task.id].values() if split.sizes is not None]
            sizes_of_all = torch.from_numpy(np.concatenate(sizes)) if sizes else None
            joint = target_kind(task).head.joint(by_model[task.id], sizes_of_all)
            ends = np.cumsum([len(split.texts) for split in splits[task.id].values()])[:-1]
            outputs[task.id] = dict(zip(splits[task.id], np.split(joint.numpy(), ends), strict=True))
        return outputs

    def _decided(self, task: Task, split: str, outputs: np.ndarray) -> np.ndarray:
        """The predictions for a split (rows,)."""
        head, rows = target_kind(task).head, self.dataset.splits[task.id][split]
        sizes = None if rows.sizes is None else torch.from_numpy(rows.sizes)
        codes = head.predict(torch.from_numpy(outputs), sizes).numpy().astype(np.float64)
        if rows.sizes is not None:
            codes = first_choices(codes, rows.texts, rows.sizes)
        return head.decode(codes, self.dataset.answers.get(task.answered_by or task.id, []))

    def _facts(self) -> dict[str, Any]:
        """What tables and reports say of the ensemble: its members, and what these have in common."""
        summaries = [member.summary for member in self.members]
        by_title = Counter[str]()
        for summary in summaries:
            by_title[summary["title"]] += 1 if self.by_seed else len(summary["seeds"])
        shows_counts = len(by_title) > 1 and by_title.total() > len(by_title)
        members = "; ".join(f"{count} × {title}" if shows_counts else title for title, count in by_title.items())
        system, models = "For each seed" if self.by_seed else "One system", counted(by_title.total(), "model")
        averaged = f"{system}: the averaged outputs of {models} of {members}"
        notes = [f"{averaged}. Parameters and seconds are those of these models together."]
        if self.shifted_tasks:
            notes.append(f"The decision threshold was chosen on dev: {', '.join(self.shifted_tasks)}.")
        title = f"ensemble of {by_title.total()}: {members}"
        return {"family": "ensemble", **common_facts(summaries), "title": title, "notes": notes}
