"""The commands and their arguments. Each command calls one function that a script could call, and imports large packages only when it runs."""
