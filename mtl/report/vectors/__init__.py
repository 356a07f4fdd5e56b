"""The boards of sentence encoders: evaluations by mteb beside published rows, and on local data beside each other."""
