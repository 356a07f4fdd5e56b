"""Other systems' predictions as runs, from Python."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from mtl.api.run import Run, run_job
from mtl.api.settings import plain_settings
from mtl.base.errors import resources_as_input


@resources_as_input()
def import_predictions(
    name: str,
    predictions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    seed: int | Sequence[int] | None = None,
    system: Mapping[str, Any] | str | PathLike[str] | None = None,
    labels: Mapping[str, Mapping[str, Any]] | str | PathLike[str] | None = None,
    **settings: Any,
) -> Run:
    """Make a run of the predictions of another system, as `mtl import` does. A finished run with the same predictions stays as it is.

    Args:
        name: of the run's folder, and of the system where `system` has no title.
        predictions: by task id, for the rows of the split that scores the task in their order: a list, an array or a Series; or such
            lists by split, dev and test; or a DataFrame with the column prediction and, if you like, id (then in any order) and split.
            For several seeds, a list with one such mapping for each.
        seed: the seed, or one for each mapping; else 1, 2, ….
        system: what is known of the system, as in system.yaml, or the path of this file.
        labels: by task id, the label that each spelling of an answer means, or the path of a YAML file.
        settings: those of a run, such as suite, data_dir, runs_dir and tasks.

    Returns:
        The finished run.

    Raises:
        mtl.InputError: for predictions that do not fit the rows, and bad settings. Then no run is made.

    >>> gold = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"]).predictions("cbd", seed=1)["gold"]
    >>> mtl.import_predictions("oracle", {"cbd": gold}, suite="klej-sample").summary["average"]
    100.0
    """
    from mtl.jobs.given import given_job

    own: dict[str, Any] = {"seed": list(seed) if isinstance(seed, Sequence) else seed}
    own |= {key: fspath(it) if isinstance(it, PathLike) else it for key, it in (("system", system), ("labels", labels))}
    given = {**plain_settings((), settings), **{key: value for key, value in own.items() if value is not None}}
    with given_job(name, predictions, given) as job:
        return run_job(job, "mtl.import_predictions")
