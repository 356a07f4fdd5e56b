"""The command line: parses the arguments, runs the command and returns its exit status."""

import argparse
import logging
import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from mtl.api.commands.job_settings import Commands
from mtl.api.commands.results import add_results
from mtl.api.commands.training import add_training
from mtl.base.display import log_to_standard_error
from mtl.base.errors import InputError, UserError, resources_as_input, sigterm_as_interrupt
from mtl.base.extras import installed_extras
from mtl.base.log import logger
from mtl.base.names import meant, text_problem
from mtl.base.terminal import one_line, standard_streams
from mtl.base.version import VERSION
from mtl.base.wings import wings


@standard_streams()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status: 0 on success (a command may return another status), 1 if training diverged, a process of a seed
    failed, or the reader of standard output closed the pipe, 2 for bad input, and 130 if Ctrl-C or SIGTERM interrupted the command."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with resources_as_input():
            parsed = _parse(words)
            parsed.command = shlex.join(["mtl", *words])
            log_to_standard_error()
            logger.setLevel(logging.INFO)
            with sigterm_as_interrupt():
                status: int | None = parsed.run(parsed)
            sys.stdout.flush()
    except UserError as error:
        print(f"mtl: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        print("mtl: interrupted; the same command continues", file=sys.stderr)
        return 130
    return status or 0


def add_commands(commands: Commands) -> None:
    """Add every command. Parsed arguments have a function `run`, which takes them and returns an exit status (None means 0)."""
    add_training(commands)
    add_results(commands)
    for wing in wings():
        if wing.commands is not None:
            wing.commands(commands)


class _Parser(argparse.ArgumentParser):
    """Reports an error in the command line in one line, as for all other bad input."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"mtl: error: {one_line(message)}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError for a value that is no choice, with the one that is meant."""
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            close = " or ".join(meant(str(value), choices))
            remedy = f"did you mean {close}?" if close else f"choose from {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; {remedy}")


class _Version(argparse.Action):
    """Prints the version and the extras that are installed. Looking for them takes time, so only this option does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"mtl {VERSION}; extras: {', '.join(installed_extras()) or 'none'}")
        parser.exit()


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """The parsed command line. Settings may come before or after options."""
    parser = _Parser("mtl", description="Honest LSTM baselines for any language-understanding benchmark.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and the installed extras")
    add_commands(parser.add_subparsers(metavar="COMMAND", required=True))
    for word in words:
        if problem := text_problem(word):
            parser.error(f"{word}: {problem}")
    parsed, rest = parser.parse_known_args(_with_plain_settings(parser, words))
    are_settings = hasattr(parsed, "settings") and all("=" in word and not word.startswith("-") for word in rest)
    if rest and not are_settings:
        pairs = [word.split("=", 1) for word in rest if "=" in word]
        remedy = "".join(f"; write --{shlex.join([key, value])}" for key, value in pairs if hasattr(parsed, key))
        parser.error(f"unrecognized arguments: {' '.join(rest)}{remedy}")
    if rest:
        parsed.settings += rest
    return parsed


def _with_plain_settings(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """The words with all settings as key=value, also those written as options (`_is_setting`); one with the name of an argument is that argument."""
    plain: list[str] = []
    unread = iter(words)
    for word in unread:
        commands = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if commands:
            parser = commands[0].get(word, parser)  # that of the command, once its name is read
        if not _is_setting(parser, word):
            plain.append(word)
            continue
        key, equals, value = word.removeprefix("--").partition("=")
        if not equals:
            value = next(unread, "")
            if not value or value.startswith("--"):
                parser.error(f"{word} needs a value, as in {word} VALUE")
        key = key.replace("-", "_")
        is_argument = any(action.dest == key and not action.option_strings for action in parser._actions)
        plain.append(value if is_argument else f"{key}={value}")
    return plain


def _is_setting(parser: argparse.ArgumentParser, word: str) -> bool:
    """Whether a word, --key or --key=value, is a setting: the command takes settings, and none of its options begins with --key."""
    option = word.partition("=")[0]
    takes_settings = any(action.dest == "settings" for action in parser._actions)
    is_option = any(name.startswith(option) for action in parser._actions for name in action.option_strings)
    return takes_settings and option.startswith("--") and option != "--" and not is_option
