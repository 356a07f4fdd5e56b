"""What structured targets add to the core: kinds of targets that are more than one value, and their metrics."""

from mtl.base.wings import Wing

WING = Wing(
    target_kinds={"answer": "mtl.structured.answer:Answer"},
    metrics={
        "squad_f1": "mtl.structured.squad:SQUAD_F1",
        "squad_f1_characters": "mtl.structured.squad:SQUAD_F1_CHARACTERS",
        "squad_exact": "mtl.structured.squad:SQUAD_EXACT",
    },
)
