"""The exceptions that end a command with one line instead of a traceback."""


class InputError(Exception):
    """Bad input: a file, a key or a value that the user gave.

    The message is one line that names the file (and its line), the key or the value, and says what to do.
    The command line prints it on standard error and exits with status 2.
    """


class DivergedError(Exception):
    """Training diverged: its loss, weights or outputs are no longer finite numbers.

    The message is one line that names the place and says what to try.
    The command line prints it on standard error and exits with status 1.
    """
