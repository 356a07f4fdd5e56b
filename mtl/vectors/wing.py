"""What vectors add to the core."""

from mtl.base.lazy import lazy
from mtl.base.wings import Boards, Wing

WING = Wing(
    commands=lazy("mtl.vectors.commands:add_commands"),
    boards=Boards(
        find=lazy("mtl.vectors.boards:find_boards"),
        file="vectors.csv",
        render=lazy("mtl.vectors.boards:render_vectors"),
    ),
    trainings={"elmo": "mtl.vectors.elmo:TRAINING"},
    own_body=lazy("mtl.vectors.pretraining.pretrain:own_body"),
    extras={"mteb": ("mteb",), "sentence-transformers": ("sentence_transformers",)},
)
