"""What units ask for."""

from pathlib import Path

from command_line import job
from small_suite import small_settings

from mtl.jobs.together import needs


def test_a_gpu_is_asked_for_where_one_is_used(tmp_path: Path) -> None:
    lstm = [*small_settings(tmp_path), "engine=ray"]
    floor = [setting for setting in lstm if setting.startswith(("suite=", "data_dir=", "engine="))] + [
        "method=constant"
    ]
    for settings, asked in (
        (lstm, None),
        ([*lstm, "resources.gpu=0.25"], 0.25),
        ([*lstm, "resources.gpu=0"], 0.0),
        ([*lstm, "resources.gpu=0.25", "trainer.accelerator=cpu"], 0.0),
        ([*floor, "resources.gpu=0.25"], 0.0),
    ):
        assert needs(job(settings).config).gpu == asked
