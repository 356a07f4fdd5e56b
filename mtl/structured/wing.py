"""What structured targets add to the core: kinds of targets that are more than one value, and their metrics."""

from mtl.base.wings import Wing

WING = Wing()
