"""Ensembles: the averaged outputs of finished runs, of all seeds together, or with `ensemble.by_seed` the models of each seed alone. Decision
thresholds of the runs are taken back, and chosen on dev in the way of the first run that has chosen its own (`finetune.threshold`)."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.untrusted import read_json
from mtl.base.wording import counted
from mtl.data.dataset import Split, first_choices, input_rows
from mtl.jobs.ensemble_member import RUNS, Member
from mtl.jobs.job import Job, load_job
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.thresholds import SHIFTS, chosen_shifts, shift_outputs, shift_text, shifted_outputs
from mtl.runs.records import SeedScores
from mtl.runs.summary import common_facts, joint_cost
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FORMAT = 1  # increase it when the same members give other predictions
COPIED = ("suite", "data_dir", "held_out", "choosing_share", "tasks")  # settings that it takes from its first run


def ensemble_job(runs: Sequence[str], settings: Mapping[str, Any]) -> Job:
    """The job of an ensemble of the finished runs in these folders. Unless `settings` name others, its suite, data, held-out rows and tasks are those
    of the first run, and by seed its seeds, too. Dev rows that repeat a training row choose if they chose in one of the runs. Raises InputError."""
    if not runs:
        raise InputError("name the folder of a finished run, or of several", key="RUN")
    configs = [Member(run).summary["config"] for run in runs]
    copied = {key: configs[0][key] for key in COPIED if configs[0].get(key) is not None}
    copied["choose_on_repeats"] = any(config.get("choose_on_repeats", True) for config in configs)
    merged = {**copied, **settings, "method": "ensemble", RUNS: list(runs)}
    job = load_job(merged)
    return load_job({"seeds": configs[0]["seeds"], **merged}) if job.config.ensemble.by_seed else job


class Ensemble(Method):
    """`mtl.methods.method.Method` of an ensemble. It trains nothing, and keeps no models of its own."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError unless all runs were trained on the training rows of the ensemble's tasks and, by seed, with its seeds."""
        super().__init__(request)
        self.by_seed = self.config.ensemble.by_seed
        self.members = [Member(run) for run in self.config.ensemble.runs]
        for member in self.members:
            member.check(self.config, self.dataset)
        content = json.dumps((FORMAT, [member.content() for member in self.members]))
        self.fingerprints["members"] = hashlib.sha256(content.encode()).hexdigest()
        ways = [member.summary["config"].get("finetune.threshold") for member in self.members]
        self.shift_way = next((way for way in ways if way in SHIFTS), "")  # how thresholds are chosen; empty: none are
        self.shifted_tasks = [task for task in self.dataset.trained_tasks if self.shift_way and shifted_outputs(task)]
        self.facts = self._facts()

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Average the outputs, choose thresholds on the dev rows of the tasks that heads were trained on, and predict."""
        outputs = self._outputs(seed)
        for task in self.shifted_tasks:
            self._add_threshold(task, outputs)
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
        asked = models * sum(len(task_rows) for task_rows in rows.values())
        with Progress("asking the ensemble", asked, "rows") as bar:
            for member in self.members:
                seeds = self._seeds(member, seed)
                for task, output in member.outputs(seeds, rows, tasks, self.config.trainer.accelerator, bar):
                    by_model[task.id].append(torch.from_numpy(output))
        return {task.id: _averaged(task, by_model[task.id], splits[task.id]) for task in tasks}

    def _add_threshold(self, task: Task, outputs: dict[str, dict[str, np.ndarray]]) -> None:
        """Choose a threshold on the dev rows of a task, and add it to the outputs, by task id and split, of all tasks that its head answers."""
        split, rows = self.dataset.choosing_split(task), self.dataset.choosing_rows(task)
        codes = target_kind(task).head.encode(self.dataset.splits[task.id][split].targets[rows], [])
        shifts = chosen_shifts(self.shift_way, task, outputs[task.id][split][rows], codes)
        logger.info("ensemble · %s · threshold on dev: %s", task.id, shift_text(shifts))
        for answered in self.dataset.answered(task):
            for part in outputs[answered.id].values():
                shift_outputs(part, shifts)

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
        models_by_title = Counter[str]()
        for summary in summaries:
            models_by_title[summary["title"]] += 1 if self.by_seed else len(summary["seeds"])
        models = models_by_title.total()
        members = "; ".join(models_by_title)
        if 1 < len(models_by_title) < models:
            members = "; ".join(f"{count} × {title}" for title, count in models_by_title.items())
        system = "For each seed" if self.by_seed else "One system"
        averaged = f"{system}: the averaged outputs of {counted(models, 'model')} of {members}"
        notes = [f"{averaged}. Parameters and seconds are those of these models together."]
        if self.shifted_tasks:
            shifted = ", ".join(task.id for task in self.shifted_tasks)
            notes.append(f"The decision threshold was chosen on dev: {shifted}.")
        title = f"ensemble of {models}: {members}"
        return {"family": "ensemble", **common_facts(summaries), "title": title, "notes": notes}


def _averaged(task: Task, by_model: list[torch.Tensor], splits: Mapping[str, Split]) -> dict[str, np.ndarray]:
    """The average of the models' outputs for a task, by split. Those of each model, (inputs, outputs), are for the rows of all these splits."""
    sizes = [split.sizes for split in splits.values() if split.sizes is not None]
    sizes_of_all = torch.from_numpy(np.concatenate(sizes)) if sizes else None
    joint = target_kind(task).head.joint(by_model, sizes_of_all).numpy()
    ends = np.cumsum([len(split.texts) for split in splits.values()])
    return dict(zip(splits, np.split(joint, ends[:-1]), strict=True))
