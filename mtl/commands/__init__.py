"""The commands and their arguments. Each command calls one function that a script could call, and imports large packages only when
it runs."""

from mtl.commands.data import add_data
from mtl.commands.job_settings import Commands
from mtl.commands.models import add_models
from mtl.commands.results import add_results
from mtl.commands.storage import add_storage
from mtl.commands.training import add_embeddings, add_pretraining, add_training


def add_commands(commands: Commands) -> None:
    """Add every command. Parsed arguments have a function `run`, which takes them and returns an exit status (None means 0)."""
    for add in (add_training, add_data, add_embeddings, add_pretraining, add_models, add_results, add_storage):
        add(commands)
