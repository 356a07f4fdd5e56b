"""The commands and their arguments. Each command calls one function that a script could call, and imports large packages only when it runs."""

from mtl.api.commands.job_settings import Commands
from mtl.api.commands.results import add_results
from mtl.api.commands.training import add_training
from mtl.base.wings import wings


def add_commands(commands: Commands) -> None:
    """Add every command. Parsed arguments have a function `run`, which takes them and returns an exit status (None means 0)."""
    add_training(commands)
    add_results(commands)
    for wing in wings():
        if wing.commands is not None:
            wing.commands(commands)
