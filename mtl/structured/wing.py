"""What structured targets add to the core: kinds of targets that are more than one value, their metrics, and a floor for summaries."""

from mtl.base.wings import Wing, lazy

WING = Wing(
    tag_spans=lazy("mtl.structured.marked:with_tags"),
    methods={"lead": "mtl.structured.entry:LEAD"},
    target_kinds={
        "token_labels": "mtl.structured.token_labels:TokenLabels",
        "multi_label": "mtl.structured.multi_label:MultiLabel",
        "answer": "mtl.structured.answer:Answer",
    },
    metrics={
        "span_f1": "mtl.structured.span_f1:SPAN_F1",
        "span_precision": "mtl.structured.span_f1:SPAN_PRECISION",
        "span_recall": "mtl.structured.span_f1:SPAN_RECALL",
        "token_accuracy": "mtl.structured.span_f1:TOKEN_ACCURACY",
        "micro_f1": "mtl.structured.label_f1:MICRO_F1",
        "multi_macro_f1": "mtl.structured.label_f1:MULTI_MACRO_F1",
        "exact_match": "mtl.structured.label_f1:EXACT_MATCH",
        "squad_f1": "mtl.structured.squad:SQUAD_F1",
        "squad_f1_characters": "mtl.structured.squad:SQUAD_F1_CHARACTERS",
        "squad_exact": "mtl.structured.squad:SQUAD_EXACT",
    },
)
