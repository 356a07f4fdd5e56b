"""The version of mtl, for records, keys of caches and the command line."""

VERSION = "0.1.0"
