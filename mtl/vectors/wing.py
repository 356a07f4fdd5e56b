"""What vectors add to the core."""

from mtl.base.wings import Trainings, Wing, lazy
from mtl.vectors.words import TRAININGS

WING = Wing(
    commands=lazy("mtl.vectors.commands:add_commands"),
    boards=lazy("mtl.vectors.boards:find_boards"),
    trainings=Trainings(
        extras={name: extra for name, (_, extra) in TRAININGS.items()},
        train_recipe=lazy("mtl.vectors.words.training:train_recipe"),
        add_command=lazy("mtl.vectors.commands:add_embeddings_train"),
    ),
    data_notes={
        "pl-mteb": "its 28 tasks are data sets of the Hugging Face Hub: `mtl mteb` downloads each when it evaluates it, at the revision that the"
        " installed mteb names, or reads your own files in data/pl-mteb/TASK/"
    },
    methods={"word_vectors": "mtl.vectors.word_vectors.method:WORD_VECTORS"},
    trained_body=lazy("mtl.vectors.pretraining.pretrain:trained_body"),
    text_vectors=lazy("mtl.vectors.encoders.sentence_transformer:TextVectorSource"),
    extras={"mteb": ("mteb",), "sentence-transformers": ("sentence_transformers",)},
)
