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
from mtl.data.examples import read_predicted
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.method_kind import MethodKind
from mtl.runs.folder import RunFolder
from mtl.runs.records import SeedScores, read_summary
from mtl.runs.summary import common_facts, joint_cost
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SETTINGS = "settings"  # the folder of the runs to choose from


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
        fingerprints = self.dataset.fingerprints
        contents = []
        for name, folder in self.folders.items():
            inputs = folder.read_inputs()
            if changed := [key for key in fingerprints if inputs.get(key, fingerprints[key]) != fingerprints[key]]:
                raise InputError(f"was made from other data ({', '.join(changed)})", path=folder.path)
            if absent := set(self.config.seeds) - set(self.summaries[name]["seeds"]):
                raise InputError(f"has no seed {min(absent)}", path=folder.path)
            files = [path for seed in self.config.seeds for path in sorted(folder.seed(seed).glob("predictions/*"))]
            contents.append([name, inputs, [sha256(path) for path in (folder.config, *files)]])
        self.fingerprints = {"chosen runs": hashlib.sha256(json.dumps(contents).encode()).hexdigest()}
        self.facts = self._facts()

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            chosen = self.folders[self.config.selected.runs[task.id]]
            by_split: Predictions = {}
            for name, split in self.to_predict(task).items():
                path = chosen.predictions(seed, name, task.id)
                by_split[name] = read_predicted(task, path, split.scored.candidates)
                if len(by_split[name]) != len(split):
                    raise InputError(f"{len(by_split[name])} predictions for {len(split)} {name} rows", path=path)
            yield task, by_split

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """That of the models of all chosen runs together; a text is answered by one of them, at worst by the slowest."""
        costs = [read_json(chosen.scores(seed), SeedScores)["cost"] for chosen in self.folders.values()]
        speeds = [speed for cost in costs if (speed := cost.get("sentences_per_second")) is not None]
        return {**joint_cost(costs), "sentences_per_second": min(speeds, default=None)}

    def _facts(self) -> dict[str, Any]:
        """What tables and reports say of the run: the setting of each task, and where the rows that score it have chosen it."""
        common, search = common_facts(list(self.summaries.values())), self.config.selected.search
        title = "; ".join(dict.fromkeys(summary["title"] for summary in self.summaries.values()))
        facts = {**common, "title": title, "settings": {task.id: self._setting(task) for task in self.dataset.tasks}}
        costs = "Parameters and seconds are those of the models of all tasks together."
        if search is None:
            return {**facts, "notes": ["Each task has a run of its own.", costs]}
        tasks = [task for task in self.dataset.trained_tasks if task.scored_split == "dev" and task.is_scored]
        on_scored = [task.id for task in tasks if task.id not in self.dataset.samples]
        notes = [f"Dev chose the settings: {search}.", costs]
        if on_scored:
            problem = "the dev examples that score these tasks chose their settings too, so the scores are too high"
            notes.append(f"¶ {problem}: {', '.join(on_scored)}.")
        chosen = ", ".join(filter(None, ["settings", common["chosen_on_dev"]]))
        about = {"title": f"{title}, tuned", "chosen_on_dev": chosen, "chosen_on_scored": on_scored, "notes": notes}
        return facts | about

    def _setting(self, task: Task) -> str:
        """The setting of a task: the name of its run without what all runs to choose from have in common, the method's folder and the tasks."""
        name = self.config.selected.runs[task.id]
        summary = self.summaries[name]
        tasks = f",tasks={'+'.join(summary['config'].get('tasks') or ())}"
        return name.removesuffix(tasks).removeprefix(f"{summary['folder']},")
