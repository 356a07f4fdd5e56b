"""What the name of a column says of its values: that they are labels, questions or ids, or that they say where a row comes from."""

import re
from dataclasses import dataclass
from functools import cached_property

from mtl.data.columns import LIST

# Whole names of columns, in lower case.
LABEL_NAMES = ("label", "labels", "gold_label")  # of certain targets
TARGET_NAMES = {*LABEL_NAMES, "target", "targets", "gold"}  # of columns that may be targets, whatever they hold
ANSWER_NAMES = ("answer", "answerkey", "correct", "correct_answer", "solution")  # of targets beside candidates
META = ("meta.", "metadata.")  # the beginning of the names of columns below a key of metadata, as meta.year

# Words in the names of columns, in lower case.
RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}  # of ratings
LIKELY_NAMES = {*RATING_NAMES, "target", "targets", "gold", "class", "judgment", "judgement", "duplicate"}  # of targets
# Of columns that identify rows: the last word alone, as in row_id.
ID_NAMES = {"id", "ids", "idx", "index", "guid", "uuid", "qid", "pid", "nr", "key", "url", "link", "uid"}
# Of columns that say where a row comes from, as in annotator_name: a target only if the user says so.
SOURCE_NAMES = {
    *("source", "dataset", "domain", "genre", "origin", "split", "fold", "subset", "partition", "lang", "language"),
    *("author", "annotator", "annotators", "user", "worker", "publisher", "license", "version", "file", "filename"),
    *("year", "date", "time"),
}
# Of lists that have an item for each token of a text: the token, its tag, or another form of it.
TOKEN_NAMES = {"token", "tokens", "word", "words", "tag", "tags", "pos", "ner", "tokenized", "tokenised", "lemmas"}


@dataclass(frozen=True)
class NamedColumn:
    """A column of a data file, of which only the name is known, as in "label", "meta.year" or "answers[]"."""

    name: str

    @cached_property
    def words(self) -> list[str]:
        """The words of the name's last key, in lower case: "relatedness" and "score" of relatedness_score, and of meta.relatednessScore."""
        last_key = self.name.removesuffix(LIST).rsplit(".", 1)[-1]
        return re.findall(r"[^\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", last_key).lower()) or [""]

    @property
    def is_called_label(self) -> bool:
        """Whether the last word of the name is that of a label, as in fine_label."""
        return self.words[-1] in LABEL_NAMES

    @property
    def is_question(self) -> bool:
        """Whether the last word of the name says that the values are questions."""
        return self.words[-1] in {"question", "query"}

    @property
    def is_source(self) -> bool:
        """Whether a word of the name says that the values say where a row comes from."""
        return not SOURCE_NAMES.isdisjoint(self.words)

    @property
    def is_meta(self) -> bool:
        """Whether the column is below a key of metadata, which no model reads."""
        return self.name.lower().startswith(META)
