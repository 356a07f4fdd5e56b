"""The registry entry of the method that answers tasks on words with word vectors alone."""

from mtl.base.settings.schema import Config
from mtl.embedders import EMBEDDERS
from mtl.methods.floors.entries import FloorKind
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


class WordVectorKind(FloorKind):
    """Tasks on words, answered by a file of word vectors alone."""

    reads = ("embeddings", "embeddings_dir", "embeddings.path", "embeddings.dim", "word_vectors.")
    builds = "mtl.vectors.word_vectors.method:WordVectorMethod"
    is_deterministic = True

    def title(self, config: Config) -> str:
        return f"{self.label}, {EMBEDDERS[config.embeddings.name].title}"

    def describe(self, config: Config) -> dict[str, str]:
        return {"embeddings": config.embeddings.name}

    def answers(self, task: Task) -> bool:
        """Whether the target is a number or a choice for two texts, or a word that completes an analogy of three."""
        return {"number": 2, "choice": 2, "word": 3}.get(task.kind) == task.sides

    def check(self, config: Config, suite: Suite) -> None:
        from mtl.embedders.find import check_word_file

        check_word_file(config)


WORD_VECTORS = WordVectorKind("word_vectors", "Word vectors")
