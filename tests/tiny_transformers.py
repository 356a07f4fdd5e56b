"""Transformers of 2 layers of 32 that are made on the spot, as transformers saves them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from mtl.base.extras import import_transformers

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def write_bert(
    folder: Path,
    texts: Sequence[str],
    length: int | None = 64,
    half: bool = False,
    tokenizer: bool = True,
    names: Sequence[str] | None = None,
    dropout: float = 0.1,
) -> Path:
    """A BERT with 64 positions. length: of inputs, as the tokenizer says; None: it does not say. half: with weights in float16.

    names: the tokenizer's `model_input_names`.
    """
    import_transformers()
    from transformers import BertConfig, BertModel

    words = word_pieces(texts)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=words.get_vocab_size(),
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **SIZE,
    )
    (BertModel(config).half() if half else BertModel(config)).save_pretrained(folder)
    if tokenizer:
        save_tokenizer(words, folder, length, names)
    return folder


def word_pieces(texts: Sequence[str]) -> Tokenizer:
    """BERT's tokenizer, learnt on these texts."""
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # type: ignore[call-arg]
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    trainer = trainers.WordPieceTrainer(vocab_size=400, show_progress=False, special_tokens=MARKS)
    words.train_from_iterator(texts, trainer)
    words.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return words


def save_tokenizer(words: Tokenizer, folder: Path, length: int | None, names: Sequence[str] | None = None) -> None:
    from transformers import PreTrainedTokenizerFast

    of_marks = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), MARKS, strict=True))
    options: dict[str, Any] = {**of_marks, **({} if length is None else {"model_max_length": length})}
    if names is not None:
        options["model_input_names"] = list(names)
    PreTrainedTokenizerFast(tokenizer_object=words, **options).save_pretrained(folder)


def write_roberta(folder: Path, texts: Sequence[str]) -> Path:
    """A RoBERTa with 40 rows of positions, of which 38 are usable, and a tokenizer that does not limit inputs."""
    import_transformers()
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    words = Tokenizer(models.BPE(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.ByteLevel()  # type: ignore[assignment]
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=400,
            show_progress=False,
            special_tokens=marks,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    words.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls_token=("<s>", 0))  # type: ignore[assignment]
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=words.get_vocab_size(), max_position_embeddings=40, type_vocab_size=1, pad_token_id=1, **SIZE
    )
    RobertaModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=words,
        unk_token="<unk>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
    ).save_pretrained(folder)
    return folder
