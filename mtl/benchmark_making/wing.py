"""What benchmark making adds to the core."""

from mtl.base.wings import Importer, Wing, lazy

WING = Wing(
    commands=lazy("mtl.benchmark_making.commands:add_commands"),
    names={
        "Suite": "mtl.benchmark_making.suites:Suite",
        "AuditReport": "mtl.benchmark_making.audits.checks:AuditReport",
        "audit": "mtl.benchmark_making.audits.checks:audit",
    },
    engines={"ray": "mtl.benchmark_making.sweeps.ray_cluster:RayCluster"},
    fetch_copy=lazy("mtl.benchmark_making.hub:fetch_from_hub"),
    notes=lazy("mtl.benchmark_making.power:power_note"),
    importers=(
        Importer(
            help="the answers of people (.tsv), with rows=KEY_FILE of mtl annotate",
            takes=lazy("mtl.benchmark_making.annotate.form:is_answers"),
            jobs=lazy("mtl.benchmark_making.annotate.people:people_jobs"),
        ),
    ),
)
