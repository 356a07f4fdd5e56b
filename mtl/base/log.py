"""The logger of the whole package."""

import logging

logger = logging.getLogger("mtl")
