"""The registry entry of word vectors."""

from mtl.embedders import EMBEDDERS
from mtl.methods.method import MethodKind
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

# The number of texts in one input, by the target kind.
SIDES = {"number": 2, "choice": 2, "word": 3}


class WordVectorKind(MethodKind):
    """Tasks on words, answered by a file of word vectors alone."""

    family = "floor"
    reads = ("embeddings", "embeddings_dir", "embeddings.path", "embeddings.dim", "word_vectors.")
    builds = "mtl.methods.word_vectors.method:WordVectorMethod"

    def title(self, config: Config) -> str:
        """As in "Word vectors, fastText"."""
        return f"Word vectors, {EMBEDDERS[config.embeddings.name].title}"

    def folder(self, config: Config) -> str:
        return "word_vectors"

    def describe(self, config: Config) -> dict[str, str]:
        return {"embeddings": config.embeddings.name}

    def answers(self, task: Task) -> bool:
        """Whether the target is a number or a choice for two texts, or a word that completes an analogy of three."""
        return SIDES.get(task.kind) == task.sides

    def check(self, config: Config, suite: Suite) -> None:
        from mtl.embedders.find import check_word_file

        check_word_file(config)


WORD_VECTORS = WordVectorKind()
