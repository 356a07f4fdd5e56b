"""mtl from Python and in notebooks: what the commands do, with the same settings, as objects that show themselves."""
