"""The files of a dataset on the Hugging Face Hub, and its errors as one line. Import this module only where the extra `hub` is installed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetCardData, HfApi, errors, hf_hub_download

from mtl.base.errors import InputError, resource_problem
from mtl.base.untrusted import is_inside
from mtl.data.hashes import GIT, checksum_problem

TIMEOUT = 60.0  # the longest time in seconds to wait for the list of files; huggingface_hub has its own for their bytes
LISTED = 20  # files that an error message names at most
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
PROBLEMS: dict[type[Exception], str] = {  # by error, what is wrong and what to do; the first that fits counts
    errors.HFValidationError: "hub.dataset must be OWNER/NAME",
    errors.GatedRepoError: f"it is gated: ask for access on its page, and {LOG_IN}",  # also a RepositoryNotFoundError
    errors.RepositoryNotFoundError: f"there is no such dataset, or it is private; check its name, or {LOG_IN}",
    errors.RevisionNotFoundError: "it has no such revision; check its name",
    errors.OfflineModeIsEnabled: "HF_HUB_OFFLINE is set; unset it and run again",
}
# Files of a dataset by path: the size in bytes, and the checksum, as `checksum_problem` takes it, if there is one.
HubFiles = dict[str, tuple[int, str | None]]


def list_files(dataset: str, revision: str) -> tuple[str, HubFiles, dict[str, Any]]:
    """The commit of a dataset's revision, its files, and its card. Raises InputError, from the error of huggingface_hub."""
    with _library_errors():
        info = HfApi(library_name="mtl").dataset_info(dataset, revision=revision, files_metadata=True, timeout=TIMEOUT)
        if not re.fullmatch("[0-9a-f]{40}", commit := str(info.sha)):
            raise ValueError("it names no commit")
        files: HubFiles = {}
        for file in info.siblings or ():
            if is_inside(file.rfilename):
                if not isinstance(file.size, int):
                    raise TypeError("it states no size")
                blob = GIT + file.blob_id if file.blob_id else None
                files[file.rfilename] = file.size, file.lfs.sha256 if file.lfs else blob
    return commit, files, info.card_data.to_dict() if isinstance(info.card_data, DatasetCardData) else {}


def download(dataset: str, commit: str, files: HubFiles, limit: int) -> dict[str, Path]:
    """These files, by path, in the cache of huggingface_hub, which continues downloads. Raises InputError, also for more bytes than the limit."""
    total = sum(size for size, _ in files.values())
    if total > limit:
        raise InputError(f"its files have {total} bytes, over the limit of {limit}")
    copies = {}
    for path, (stated, checksum) in files.items():
        with _library_errors():
            copy = Path(hf_hub_download(dataset, path, repo_type="dataset", revision=commit, library_name="mtl"))
        problem = checksum_problem(copy, checksum) if checksum is not None else None
        if (size := copy.stat().st_size) != stated:
            problem = f"has {size} bytes, not the {stated} that the Hub lists"
        if problem is not None:
            copy.resolve().unlink()  # else the cache would give this file again
            raise InputError(f"{problem}; it was damaged on the way; run again", path=path)
        copies[path] = copy
    return copies


@contextmanager
def naming_the_dataset(dataset: str, folder: Path) -> Iterator[None]:
    """Within the block, an error is one line that names the dataset, and a file in the temporary folder by its name."""
    try:
        yield
    except OSError as error:
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {resource_problem(error)}") from error
    except InputError as error:
        if error.path is not None and Path(error.path).is_relative_to(folder) and Path(error.path) != folder:
            error = error.located(path=Path(error.path).relative_to(folder))
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {error}") from None


@contextmanager
def _library_errors() -> Iterator[None]:
    """Within the block, an error of huggingface_hub is an InputError."""
    try:
        yield
    except Exception as error:  # of many kinds, for an answer that is not the Hub's
        raise InputError(_problem(error)) from error


def _problem(error: Exception) -> str:
    """What is wrong with the dataset, the Hub, the network or the disk, and what to do."""
    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # it is not in the cache because the Hub did not give it
    for kind, problem in PROBLEMS.items():
        if isinstance(error, kind):
            return problem
    if isinstance(error, errors.HfHubHTTPError):
        advice = LOG_IN if error.response.status_code in (401, 403) else "check HF_ENDPOINT, or run again later"
        return f"the Hub answers {error.response.status_code} {error.response.reason_phrase}; {advice}"
    if isinstance(error, OSError) and error.errno is not None:
        return str(resource_problem(error))
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    advice = "check the network and HF_ENDPOINT, and run again to continue"
    return f"the Hub does not answer as it should ({reason}); {advice}"
