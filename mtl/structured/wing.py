"""What structured targets add to the core: kinds of targets that are more than one value, and their metrics."""

from mtl.base.wings import Wing

WING = Wing(
    target_kinds={"multi_label": "mtl.structured.multi_label:MultiLabel"},
    metrics={
        "micro_f1": "mtl.structured.label_sets:MICRO_F1",
        "multi_macro_f1": "mtl.structured.label_sets:MULTI_MACRO_F1",
        "samples_f1": "mtl.structured.label_sets:SAMPLES_F1",
        "exact_match": "mtl.structured.label_sets:EXACT_MATCH",
    },
)
