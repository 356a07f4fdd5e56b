"""The registry entries of the floors."""

from mtl.methods.kind import BuildRequest, Method, MethodKind
from mtl.tasks.task import Task


def build(request: BuildRequest) -> Method:
    """The floor that the configuration names."""
    from mtl.methods.floors.floor import Floor

    return Floor(request)


def reads_texts(task: Task) -> bool:
    """Whether a task's texts have words to count: n-grams of single words, each of which occurs once, tell nothing."""
    return task.level == "text"


def _floor(name: str, title: str) -> MethodKind:
    return MethodKind(
        family="floor",
        title=lambda config: title,
        folder=lambda config: name,
        reads=("floor.",),
        build=build,
        is_constant=name == "constant",
        answers=(lambda task: True) if name in ("random", "constant") else reads_texts,
    )


FLOORS = {
    name: _floor(name, title)
    for name, title in {
        "random": "Random targets",
        "constant": "Best constant",
        "overlap": "TF-IDF, overlap of a pair",
        "svm": "TF-IDF + linear SVM",
        "tree": "TF-IDF + decision tree",
        "forest": "TF-IDF + random forest",
    }.items()
}
