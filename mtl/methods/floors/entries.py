"""The registry entries of the floors."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.settings.schema import Config
from mtl.base.wings import hook
from mtl.embedders import EMBEDDERS
from mtl.methods.method_kind import MethodKind
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.model_files import check_place
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task


class FloorKind(MethodKind):
    """A floor. Unless a subclass says otherwise, its runs have one title and one folder."""

    family = "floor"
    reads: tuple[str, ...] = ("floor.",)
    builds = "mtl.methods.floors.floor:Floor"

    def __init__(self, name: str, label: str) -> None:
        """The label is the title of its rows, or the part of it that does not depend on the configuration."""
        self.name, self.label = name, label

    def title(self, config: Config) -> str:
        return self.label

    def folder(self, config: Config) -> str:
        return self.name


class GuessKind(FloorKind):
    """A guess at a number or at one of finitely many answers, or at any target."""

    def __init__(self, name: str, label: str, any_target: bool = False) -> None:
        super().__init__(name, label)
        self.any_target = any_target
        self.is_constant = name == "constant"
        self.is_deterministic = name in ("constant", "majority")

    def answers(self, task: Task) -> bool:
        """Tasks on single words, too, since it reads no texts."""
        return self.any_target or TARGET_KINDS[task.kind].head_type is not None


class TrainedKind(FloorKind):
    """A floor whose settings are chosen on dev. It reads texts: n-grams of single words, each of which occurs once, tell nothing."""

    def __init__(self, name: str, label: str, keeps: bool = False, deterministic: bool = False) -> None:
        """Models that can be kept are those of `mtl.methods.floors.model_file.KEEPABLE`."""
        super().__init__(name, label)
        self.is_deterministic = deterministic
        self.loads = "mtl.methods.floors.trained:load_trained" if keeps else None

    def chosen_on_dev(self, config: Config) -> str:
        return "settings"


class EstimatorKind(TrainedKind):
    """An estimator of scikit-learn on n-grams, or for units on the words around each."""

    reads_units = True

    def answers(self, task: Task) -> bool:
        """Not tasks on numbers for naive Bayes, which is a classifier."""
        has_numbers = TARGET_KINDS[task.kind].estimator_type == "regressor"
        return super().answers(task) and not (self.name == "naive_bayes" and has_numbers)

    def title(self, config: Config) -> str:
        return f"{'Word n-grams' if config.floor.features == 'joined' else 'TF-IDF'} + {self.label}"


class FastTextKind(TrainedKind):
    reads_units = True

    def answers(self, task: Task) -> bool:
        """Not a task whose targets are several labels: it gives each input one."""
        return super().answers(task) and not TARGET_KINDS[task.kind].has_parts

    def check(self, config: Config, suite: Suite) -> None:
        check_installed("fasttext", key="method", value="fasttext")


class StaticKind(TrainedKind):
    """Means of static vectors: word vectors, or with `static.path` vectors of whole texts by a model that a wing reads."""

    reads = ("embeddings", "embeddings_dir", "embeddings.path", "static.", "floor.")
    builds = "mtl.methods.floors.static:StaticFloor"

    def title(self, config: Config) -> str:
        path = config.static.path
        return f"{self.label}, {EMBEDDERS[config.embeddings.name].title if path is None else short_name(path)}"

    def folder(self, config: Config) -> str:
        path = config.static.path
        return f"{self.name}-{config.embeddings.name if path is None else short_name(path)}"

    def describe(self, config: Config) -> dict[str, str]:
        return {"embeddings": config.embeddings.name} if config.static.path is None else {}

    def unread(self, config: Config) -> tuple[str, ...]:
        return ("embeddings", "embeddings_dir", "embeddings.path") if config.static.path is not None else ()

    def check(self, config: Config, suite: Suite) -> None:
        from mtl.embedders.find import check_word_file

        path = config.static.path
        if path is None:
            check_word_file(config)
            return
        if hook("text_vectors") is None:
            problem = "only the wing vectors reads models; install it, or drop the path"
            raise InputError(problem, key="static.path", value=path)
        check_installed("sentence-transformers", key="static.path", value=path)
        check_place("static.path", path)

    def sources(self, config: Config) -> list[Path]:
        path = config.static.path
        return [Path(path)] if path is not None and Path(path).is_dir() else []


FLOORS: dict[str, MethodKind] = {
    kind.name: kind
    for kind in (
        GuessKind("random", "Random targets", any_target=True),
        GuessKind("constant", "Best constant", any_target=True),
        GuessKind("uniform", "Uniform"),
        GuessKind("majority", "Majority or mean"),
        TrainedKind("overlap", "TF-IDF, overlap of a pair", keeps=True, deterministic=True),
        EstimatorKind("svm", "linear SVM", keeps=True),
        EstimatorKind("logistic", "logistic regression", keeps=True, deterministic=True),
        EstimatorKind("naive_bayes", "naive Bayes", keeps=True, deterministic=True),
        EstimatorKind("tree", "decision tree"),
        EstimatorKind("forest", "random forest"),
        FastTextKind("fasttext", "fastText classifier"),
        StaticKind("static", "Static vectors"),
    )
}
