"""ELMo: contextual word vectors from a character-level bidirectional language model (Peters et al. 2018)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtl.embedders.elmo.model import ELMo


__all__ = ["ELMo"]


def __getattr__(name: str) -> Any:
    """`ELMo`, imported at its first use, since it needs torch."""
    if name == "ELMo":
        from mtl.embedders.elmo.model import ELMo

        return ELMo
    raise AttributeError(name)
