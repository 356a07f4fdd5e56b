"""The small BERT that a suite trains on its own training text where no transformer is named."""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from mtl.errors import InputError

logger = logging.getLogger("mtl")


def own_body(texts: Sequence[str], language: str, folder: Path, settings_name: str = "tiny") -> Path:
    """The folder of a small BERT that was trained on these texts; it is trained first if it is not there.

    It is a folder below `folder`, whose name has a hash of the texts, the settings and the software. A training that was interrupted continues; a
    second process waits. settings_name: a file in configs/pretrain, or a path. Raises InputError if transformers is not installed, and
    as `pretrain` does.
    """
    from mtl.pretraining.library import check_installed, library_versions
    from mtl.pretraining.settings import read_settings
    from mtl.pretraining.texts import PretrainingTexts
    from mtl.resumable import FORMAT

    check_installed()
    settings = read_settings(settings_name, {})
    source = PretrainingTexts(texts=texts, language=language, source="training texts of a suite")
    software = {**library_versions(), "torch": version("torch"), "format": FORMAT}
    key = json.dumps([asdict(settings), source.fingerprint, software], sort_keys=True)
    name = f"bert-{Path(settings_name).stem}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if not (folder / name).is_dir():
        from mtl.pretraining.pretrain import pretrain

        logger.info("training %s on the suite's training text", folder / name)
        try:
            pretrain(source, settings, folder / name)
        except InputError as error:
            raise InputError(
                f"no transformer is named, and training one fails: {error}; or name one with transformer.path="
            ) from None
    return folder / name
