"""The registry entry of word vectors."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.embedders import EMBEDDERS
from mtl.methods.method import BuildRequest, Method, MethodKind
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

# The number of texts in one input, by the target kind.
SIDES = {"number": 2, "choice": 2, "word": 3}


def answers(task: Task) -> bool:
    """Whether the target is a number or a choice for two texts, or a word that completes an analogy of three."""
    return SIDES.get(task.kind) == task.sides


def title(config: Config) -> str:
    """As in "Word vectors, fastText"."""
    return f"Word vectors, {EMBEDDERS[config.embeddings.name].title}"


def check(config: Config, suite: Suite) -> None:
    """Raise InputError for embeddings that are not a file of word vectors, or whose file cannot be had."""
    from mtl.embedders.find import check_obtainable

    files = EMBEDDERS[config.embeddings.name].files
    if files is None or not files.by_word:
        names = [name for name, kind in EMBEDDERS.items() if kind.files is not None and kind.files.by_word]
        raise InputError(
            f"method word_vectors reads a file of word vectors; set embeddings={' or '.join(names)}",
            key="embeddings",
            value=config.embeddings.name,
        )
    check_obtainable(config, suite)


def sources(config: Config, suite: Suite) -> list[Path]:
    """Where the vectors are."""
    from mtl.embedders.find import vector_sources

    return vector_sources(config, suite)


def build(request: BuildRequest) -> Method:
    """The method, which reads the vectors of the tasks' words. Raises InputError as `check`."""
    check(request.config, request.suite)
    from mtl.methods.word_vectors.method import WordVectorMethod

    return WordVectorMethod(request)


WORD_VECTORS = MethodKind(
    family="floor",
    title=title,
    folder=lambda config: "word_vectors",
    reads=("embeddings", "embeddings_dir", "embeddings.path", "embeddings.dim", "word_vectors."),
    build=build,
    describe=lambda config: {"embeddings": config.embeddings.name},
    check=check,
    sources=sources,
    answers=answers,
)
