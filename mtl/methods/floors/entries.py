"""The registry entries of the floors."""

from mtl.methods.kind import BuildRequest, Method, MethodKind


def build(request: BuildRequest) -> Method:
    """The floor that the configuration names."""
    from mtl.methods.floors.floor import Floor

    return Floor(request)


def _floor(name: str, title: str) -> MethodKind:
    return MethodKind(
        family="floor",
        title=lambda config: title,
        folder=lambda config: name,
        reads=("floor.",),
        build=build,
        is_constant=name == "constant",
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
