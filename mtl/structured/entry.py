"""The registry entry of the floor for summaries."""

from mtl.methods.floors.entries import FloorKind
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task


class LeadKind(FloorKind):
    is_deterministic = True
    reads = ()
    builds = "mtl.structured.lead:Lead"

    def answers(self, task: Task) -> bool:
        """Whether its targets are texts, and its rows single texts."""
        return TARGET_KINDS[task.kind].head_type is None and not task.is_pair


LEAD = LeadKind("lead", "First sentences")
