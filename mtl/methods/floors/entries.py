"""The registry entries of the floors."""

from collections.abc import Callable
from typing import Any

from mtl.base.lazy import lazy
from mtl.methods.method import MethodKind, reads_texts
from mtl.settings.schema import Config
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task


def has_head(task: Task) -> bool:
    """Whether the task's targets are numbers or one of finitely many answers."""
    return TARGET_KINDS[task.kind].head is not None


def summarizes(task: Task) -> bool:
    """Whether the task's targets are texts, and its rows single texts."""
    return not has_head(task) and not task.is_pair


def _floor(title: Callable[[Config], str], name: str, **further: Any) -> MethodKind:
    return MethodKind(
        **{
            "family": "floor",
            "title": title,
            "folder": lambda config: name,
            "reads": ("floor.",),
            "build": lazy("mtl.methods.floors.floor:Floor"),
            "answers": reads_texts,  # n-grams of single words, each of which occurs once, tell nothing
            **further,
        }
    )


def _chosen(config: Config) -> str:
    return "settings"


def _kept(title: Callable[[Config], str], name: str, **further: Any) -> MethodKind:
    """A floor whose models can be kept (`mtl.methods.floors.kept.KEEPABLE`)."""
    return _floor(title, name, chosen_on_dev=_chosen, load=lazy("mtl.methods.floors.kept:load_kept"), **further)


def _estimator(model: str) -> Callable[[Config], str]:
    """The title of a floor with a scikit-learn estimator."""
    return lambda config: f"{'Word n-grams' if config.floor.features == 'joined' else 'TF-IDF'} + {model}"


FLOORS = {
    "random": _floor(lambda config: "Random targets", "random", answers=lambda task: True),
    "constant": _floor(lambda config: "Best constant", "constant", answers=lambda task: True, is_constant=True),
    "uniform": _floor(lambda config: "Uniform", "uniform", answers=has_head),
    "majority": _floor(lambda config: "Majority or mean", "majority", answers=has_head),
    "overlap": _kept(lambda config: "TF-IDF, overlap of a pair", "overlap"),
    "svm": _kept(_estimator("linear SVM"), "svm"),
    "logistic": _kept(_estimator("logistic regression"), "logistic"),
    "naive_bayes": _kept(
        _estimator("naive Bayes"),
        "naive_bayes",
        answers=lambda task: reads_texts(task) and TARGET_KINDS[task.kind].simple.estimator == "classifier",
    ),
    "tree": _floor(_estimator("decision tree"), "tree", chosen_on_dev=_chosen),
    "forest": _floor(_estimator("random forest"), "forest", chosen_on_dev=_chosen),
    "fasttext": _floor(
        lambda config: "fastText classifier",
        "fasttext",
        build=lazy("mtl.methods.floors.token_lines:FastTextFloor"),
        check=lazy("mtl.methods.floors.token_lines:check"),
        chosen_on_dev=_chosen,
    ),
    "static": _floor(
        lazy("mtl.methods.floors.static:title"),
        "static",
        folder=lazy("mtl.methods.floors.static:folder"),
        reads=("embeddings", "embeddings_dir", "embeddings.path", "static.", "floor."),
        unread=lazy("mtl.methods.floors.static:unread"),
        describe=lazy("mtl.methods.floors.static:describe"),
        build=lazy("mtl.methods.floors.static:StaticFloor"),
        check=lazy("mtl.methods.floors.static:check"),
        sources=lazy("mtl.methods.floors.static:sources"),
        chosen_on_dev=_chosen,
    ),
    "lead": _floor(
        lambda config: "First sentences",
        "lead",
        reads=("lead.",),
        build=lazy("mtl.methods.floors.lead:Lead"),
        answers=summarizes,
    ),
}
