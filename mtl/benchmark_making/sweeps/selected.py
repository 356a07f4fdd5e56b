"""The method `selected`: for each task, the predictions of a run in the folder `settings`, which the choice of a sweep names. It trains nothing."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.settings.schema import Config
from mtl.base.untrusted import inside, read_json
from mtl.benchmark_making.sweeps.run_names import setting_name
from mtl.data.examples import read_targets
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.method_kind import MethodKind
from mtl.runs.folder import RunFolder
from mtl.runs.records import SeedScores, Summary, read_summary
from mtl.runs.summary import common_facts, joint_cost
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SETTINGS = "settings"  # the folder of the runs to choose from
COST_NOTE = "Parameters and seconds are those of the models of all tasks together."


class SelectedKind(MethodKind):
    """The registry entry."""

    family = "selected"
    reads = ("selected.",)
    builds = "mtl.benchmark_making.sweeps.selected:Selected"
    computes = False

    def title(self, config: Config) -> str:
        return "chosen settings"

    def folder(self, config: Config) -> str:
        return "selected"

    def answers(self, task: Task) -> bool:
        return True

    def check(self, config: Config, suite: Suite) -> None:
        if not config.selected.runs:
            raise InputError("names no run; mtl sweep makes such runs, of a file with select:", key="selected.runs")

    def sources(self, config: Config) -> list[Path]:
        folder = Path(config.run_dir or "", SETTINGS)
        return [folder / name / "summary.json" for name in sorted(set(config.selected.runs.values()))]

    def chosen_run(self, config: Config, folder: Path, task: str | None) -> Path:
        runs = config.selected.runs
        if task is not None and task not in runs:
            raise InputError(f"--task {task}: not in this run; it has {', '.join(runs)}")
        names = sorted(set(runs.values()) if task is None else {runs[task]})
        if len(names) > 1:
            answered = {name: ", ".join(id for id in runs if runs[id] == name) for name in names}
            by_run = "; ".join(f"{folder / SETTINGS / name} ({ids})" for name, ids in answered.items())
            raise InputError(f"has no models of its own; name the run that was chosen: {by_run}", path=folder)
        return inside(folder / SETTINGS, names[0])


SELECTED = SelectedKind()


class Selected(Method):
    """`mtl.methods.method.Method` of chosen runs."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError unless the chosen runs are finished, have the seeds, and were made from the same data."""
        super().__init__(request)
        chosen = self.config.selected.runs
        if lacking := [task.id for task in self.dataset.tasks if task.id not in chosen]:
            raise InputError(f"names no run for {lacking[0]}", key="selected.runs")
        names = dict.fromkeys(chosen[task.id] for task in self.dataset.tasks)
        self.folders = {name: RunFolder(inside(request.folder / SETTINGS, name)) for name in names}
        self.summaries = {name: read_summary(folder.summary) for name, folder in self.folders.items()}
        for name, folder in self.folders.items():
            self._check_run(folder, self.summaries[name])
        self.fingerprints = {"chosen runs": self._fingerprint()}
        self.facts = self._facts()

    def _check_run(self, folder: RunFolder, summary: Summary) -> None:
        """Raise InputError if a run was made from other data, or lacks a seed."""
        inputs, fingerprints = folder.read_inputs(), self.dataset.fingerprints
        if changed := [key for key in fingerprints if inputs.get(key, fingerprints[key]) != fingerprints[key]]:
            raise InputError(f"was made from other data ({', '.join(changed)})", path=folder.path)
        if absent := set(self.config.seeds) - set(summary["seeds"]):
            raise InputError(f"has no seed {min(absent)}", path=folder.path)

    def _fingerprint(self) -> str:
        """The hash of the runs' names, inputs, configurations and predictions."""
        contents = []
        for name, folder in self.folders.items():
            files = [folder.config]
            for seed in self.config.seeds:
                files += sorted(folder.seed(seed).glob("predictions/*"))
            contents.append([name, folder.read_inputs(), [sha256(path) for path in files]])
        return hashlib.sha256(json.dumps(contents).encode()).hexdigest()

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            chosen = self.folders[self.config.selected.runs[task.id]]
            by_split: Predictions = {}
            for name, split in self.to_predict(task).items():
                path = chosen.predictions(seed, name, task.id)
                by_split[name] = read_targets(task, path, split.scored.candidates, predicted=True)
                if len(by_split[name]) != len(split):
                    raise InputError(f"{len(by_split[name])} predictions for {len(split)} {name} rows", path=path)
            yield task, by_split

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """That of the models of all chosen runs together; a text is answered by one of them, at worst by the slowest."""
        costs = [read_json(chosen.scores(seed), SeedScores)["cost"] for chosen in self.folders.values()]
        speeds = [speed for cost in costs if (speed := cost.get("sentences_per_second")) is not None]
        return {**joint_cost(costs), "sentences_per_second": min(speeds, default=None)}

    def _facts(self) -> dict[str, Any]:
        """What tables and reports say of the run: its title, the setting of each task, and notes."""
        facts = common_facts(list(self.summaries.values()))
        facts["title"] = "; ".join(dict.fromkeys(summary["title"] for summary in self.summaries.values()))
        runs = {task.id: self.config.selected.runs[task.id] for task in self.dataset.tasks}
        facts["settings"] = {id: setting_name(name, self.summaries[name]) for id, name in runs.items()}
        if self.config.selected.search is None:
            return {**facts, "notes": ["Each task has a run of its own.", COST_NOTE]}
        return facts | self._search_facts(facts["title"], facts["chosen_on_dev"])

    def _search_facts(self, title: str, chosen_on_dev: str) -> dict[str, Any]:
        """The facts that a choice of settings on dev changes or adds, with the tasks that the same rows score."""
        scored = [task.id for task in self.dataset.trained_tasks if task.scored_split == "dev" and task.is_scored]
        chosen_on_scored = [id for id in scored if id not in self.dataset.samples]
        notes = [f"Dev chose the settings: {self.config.selected.search}.", COST_NOTE]
        if chosen_on_scored:
            problem = "the dev examples that score these tasks chose their settings too, so the scores are too high"
            notes.append(f"¶ {problem}: {', '.join(chosen_on_scored)}.")
        chosen = {"title": f"{title}, tuned", "chosen_on_dev": ", ".join(filter(None, ["settings", chosen_on_dev]))}
        return {**chosen, "chosen_on_scored": chosen_on_scored, "notes": notes}
