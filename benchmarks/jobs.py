"""The LSTM on KLEJ or on the embedded sample, as far as it is the same for all benchmarks of training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.base.settings.schema import Config
from mtl.data.sample import unpack_embedded
from mtl.jobs.inputs import prepare
from mtl.jobs.job import load_job
from mtl.methods import METHODS
from mtl.methods.lstm.two_stages import TwoStages


def prepare_lstm(data: Path | None, folder: Path, settings: Mapping[str, Any]) -> tuple[Config, TwoStages]:
    """The configuration and the LSTM, its data read. data: KLEJ's; None: the sample. folder: for all that is written."""
    data_dir = data or folder / "data"
    if data is None:
        unpack_embedded("klej-sample", data_dir)
    places = {"data_dir": data_dir, "cache_dir": folder / "cache", "run_dir": folder / "run"}
    job = load_job(
        {
            "suite": "klej" if data else "klej-sample",
            **{key: str(place) for key, place in places.items()},
            "trainer.accelerator": "cpu",
            **settings,
        }
    )
    _, method = prepare(job, METHODS["lstm"].find_inputs(job.config, job.suite))
    assert isinstance(method, TwoStages)
    return job.config, method
