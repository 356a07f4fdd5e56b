"""The one exception that means: the user can mend this."""


class InputError(Exception):
    """Bad input: a file, a key or a value that the user gave.

    The message is one line that names the file, the line where there is one, and what to do.
    The command line prints it on standard error and exits with status 2.
    """
