"""The commands and their arguments. Each command calls one function that a script could call, and imports large packages only when
it runs."""

from mtl.api.commands.data import add_data
from mtl.api.commands.job_settings import Commands
from mtl.api.commands.models import add_models
from mtl.api.commands.results import add_results
from mtl.api.commands.storage import add_storage
from mtl.api.commands.training import add_embeddings, add_training
from mtl.base.wings import wings


def add_commands(commands: Commands) -> None:
    """Add every command. Parsed arguments have a function `run`, which takes them and returns an exit status (None means 0)."""
    for add in (add_training, add_data, add_embeddings, add_models, add_results, add_storage):
        add(commands)
    for wing in wings():
        if wing.commands is not None:
            wing.commands(commands)
