"""Names: which texts can be a path, a cell of a table or a key, and which known name an unknown one may stand for."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable

MOST = 5  # the most names in a message
# Names that other programs give to a setting, a method or a metric, by their words. A value may be several names.
SYNONYMS = {
    **{"device": "accelerator", "cuda": "accelerator", "workers": "seeds_in_parallel", "dataset": "suite"},
    **{"model": "method", "benchmark": "suite", "out": "run_dir", "output_dir": "run_dir", "iterations": "max_steps"},
    **dict.fromkeys(("exp_dir", "serialization_dir", "exp_name", "run_name"), "run_dir"),  # jiant, AllenNLP, Lightning
    **dict.fromkeys(("pretrain_tasks", "target_tasks"), "tasks"),
    **{"cuda_device": "accelerator", "gpu": "accelerator", "gpus": "accelerator", "weighting_method": "sampling"},
    **{"d_hid": "hidden_size", "n_layers": "num_layers", "n_layers_enc": "num_layers", "min_lr": "final_learning_rate"},
    **{"word_embs": "embeddings", "max_epochs": "pretrain.max_steps max_epochs"},
    **dict.fromkeys(("val_interval", "val_check_interval"), "validate_every"),
    **dict.fromkeys(("logreg", "logistic_regression", "lr", "tfidf", "tf_idf"), "logistic"),  # methods
    **dict.fromkeys(("bert", "roberta"), "transformer"),
    **{"random_forest": "forest", "rf": "forest", "decision_tree": "tree", "linear_svc": "svm", "rnn": "lstm"},
    **{"majority_class": "majority", "most_frequent": "majority", "dummy": "constant"},
    # metrics: of one label a row, micro F1 is the accuracy
    **{"acc": "accuracy", "mcc": "matthews", "f1_score": "f1", "f1_micro": "accuracy"},
}
# What stands here in place of a setting that other programs have, by its name.
ABSENT = {
    "transfer_paradigm": "set variant=frozen or variant=finetune",
    "pair_attn": "set variant=attention",
    "bidirectional": "the encoder always reads in both directions",
    "optimizer": "it is always Adam with AMSGrad",
    "devices": "a training uses one GPU; seeds_in_parallel=N spreads seeds over several",
    "overrides": "give each setting by itself, as in encoder.hidden_size=64",
    "input_module": "set embeddings=NAME, as in embeddings=glove",
    "pretrained_file": "set embeddings.path=FILE, as in embeddings=glove embeddings.path=FILE",
    "sent_enc": "the encoder is a BiLSTM; set method=NAME for another model",
    **dict.fromkeys(("seed", "random_seed"), "set seeds=[3] for the one seed 3; seeds=3 means seeds 1 to 3"),
    **dict.fromkeys(("do_pretrain", "load_model"), "a run trains both stages, and uses a finished stage 1 again"),
}


def is_file_name(name: object) -> bool:
    """Whether this names files and folders on every system, as the ids of tasks and the names of suites do."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", name) is not None


def one_spelling(name: str) -> str:
    """The name in Unicode's form NFC: letters with accents are one character, not two, so that equal names are equal texts."""
    return unicodedata.normalize("NFC", name)


def text_problem(text: str) -> str | None:
    """Why a text cannot be part of a path or a file; None if it can. Python reads a byte that is no UTF-8 as half a surrogate pair."""
    if "\0" in text:
        return "holds the character NUL, which no name and no text has; leave it out"
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return "is not valid UTF-8; give the file or the folder another name, or write the text as UTF-8"
    return None


def meant(name: str, known: Iterable[str]) -> list[str]:
    """The known names, dotted or not, that an unknown one may stand for; at most `MOST`.

    >>> meant("lr", ["pretrain.learning_rate", "pretrain.final_learning_rate", "seeds"])
    ['pretrain.learning_rate']
    """
    names = sorted(known)
    last = {key: key.rpartition(".")[2] for key in names}
    sought = name.rpartition(".")[2].lower().replace("-", "_")
    words = set(sought.split("_"))
    exact = [key for key in names if {key, last[key]} & {name, *SYNONYMS.get(sought, "").split()}]
    # What is sought may be words of a name, as in hidden, or their initials, as in lr.
    words_of = {key: last[key].split("_") for key in names}
    initials = {key: "".join(word[:1] for word in words_of[key]) for key in names}
    related = [key for key in names if words <= {*words_of[key]} or sought in (initials[key], last[key])]
    fitting = exact or related
    in_section = [key for key in fitting if "." in name and key.startswith(f"{name.partition('.')[0]}.")]
    return (in_section or fitting or difflib.get_close_matches(name, names, 1))[:MOST]


def advice(name: str, known: Collection[str], what: str, section: str = "") -> str:
    """Advice on an unknown name: which names may be meant, or else those most alike, each after the `section`; `what` is a word such as "keys"."""
    if not known:
        return "none is known here"
    if names := meant(name, known):
        return f"did you mean {' or '.join(section + known_name for known_name in names)}?"
    alike = sorted(difflib.get_close_matches(name, sorted(known), MOST, 0.0))
    rest = len(known) - len(alike)
    shown = [section + known_name for known_name in alike]
    return f"known {what}: {', '.join(shown)}{f', and {rest} more' if rest else ''}"
