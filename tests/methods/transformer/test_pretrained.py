"""What is read of a folder with a transformer, and what is said of one that cannot be read."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from data_files import read_json
from input_errors import refused
from tiny_transformers import write_bert, write_roberta

from mtl.base.errors import InputError
from mtl.methods.transformer.opening import open_pretrained, open_without_weights
from mtl.methods.transformer.pretrained import Pretrained
from mtl.methods.transformer.reading import opened

TEXTS = ["solen skiner idag", "regnet faller", "jag skrattar gott åt vädret"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "liten", TEXTS, length=None, half=True)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_roberta(tmp_path_factory.mktemp("roberta"), TEXTS)


def test_weights_are_float32_and_what_model_and_tokenizer_read(bert: Path, roberta: Path, tmp_path: Path) -> None:
    """The file is in float16, in which transformers would train."""
    pretrained = open_pretrained(str(bert))
    model = pretrained.classifier(3)
    assert {weight.dtype for weight in (*pretrained.body.parameters(), *model.parameters())} == {torch.float32}
    for name, weight in pretrained.body.state_dict().items():
        assert torch.equal(weight, model.base_model.state_dict()[name]), name
    assert model.classifier.out_features == 3
    # A tokenizer that does not say has 1e30; RoBERTa's positions begin after its padding index 1.
    assert open_pretrained(str(bert)).longest == 64
    assert open_pretrained(str(roberta)).longest == 38
    assert open_pretrained(str(write_bert(tmp_path / "short", TEXTS, length=20))).longest == 20
    assert open_pretrained(str(bert)).has_types and not open_pretrained(str(roberta)).has_types


def test_heads_follow_from_the_seed_and_have_float32_outputs_in_bfloat16(bert: Path) -> None:
    pretrained = open_pretrained(str(bert))

    def head(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return pretrained.classifier(2).classifier.weight

    assert torch.equal(head(1), head(1)) and not torch.equal(head(1), head(2))
    # Outputs with 8 significant bits would be the same for many rows.
    pretrained = open_pretrained(str(bert))
    given = pretrained.tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=True)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        outputs = pretrained.classifier(2).eval()(**given).logits
    assert outputs.dtype == torch.float32 and not torch.equal(outputs, outputs.bfloat16().float())


def test_what_a_run_saves_and_the_fingerprint_of_weights_and_rules(bert: Path, tmp_path: Path, roberta: Path) -> None:
    pretrained = open_pretrained(str(bert))
    pretrained.tokenizer(TEXTS, truncation=True, max_length=5)  # the tokenizer keeps this, which is none of its rules
    pretrained.save(tmp_path / "with", weights=True)
    pretrained.save(tmp_path / "without", weights=False)
    assert open_pretrained(str(tmp_path / "with")).fingerprint() == pretrained.fingerprint()
    assert not list((tmp_path / "without").glob("*.safetensors"))
    read = open_without_weights(tmp_path / "without")
    assert (read.longest, read.dim, read.padding) == (64, 32, 0)
    assert read.parameters == pretrained.parameters and read.rules() == pretrained.rules()
    fingerprint = open_pretrained(str(bert)).fingerprint()
    shutil.copytree(bert, tmp_path / "copy")
    assert open_pretrained(str(tmp_path / "copy")).fingerprint() == fingerprint
    other = write_bert(tmp_path / "other", [*TEXTS, "en till"], length=None, half=True)
    assert open_pretrained(str(other)).fingerprint() != fingerprint
    assert open_pretrained(str(write_bert(tmp_path / "whole", TEXTS, length=None))).fingerprint() != fingerprint
    # Without a pooler in its file, two readings are the same transformer.
    one: Pretrained = open_pretrained(str(roberta))
    assert one.fingerprint() == open_pretrained(str(roberta)).fingerprint()


def test_a_tokenizer_may_lie_elsewhere_unless_it_is_of_a_larger_model(bert: Path, tmp_path: Path) -> None:
    alone = write_bert(tmp_path / "alone", TEXTS, tokenizer=False)
    refused(lambda: open_pretrained(str(alone)))
    assert len(open_pretrained(str(alone), str(bert)).tokenizer) > 5
    from transformers import BertConfig, BertModel

    few = BertConfig(vocab_size=20, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    BertModel(few).save_pretrained(tmp_path / "few")
    refused(lambda: open_pretrained(str(tmp_path / "few"), str(bert)))


def test_folders_that_cannot_be_read(bert: Path, tmp_path: Path) -> None:
    write_wrong(bert, tmp_path)
    unreadable = "nothing a-file nothing/herbrt damaged-config damaged-tokenizer no-tokenizer half other-size"
    for name in unreadable.split():
        refused(open_pretrained, str(tmp_path / name))
    for name in ("unknown", "no-weights", "damaged", "pickle"):  # what transformers says of it stands in between
        said = rf"^\S+{name}: .*cannot be read: [^\n]+; restore the folder's files, or fetch or write them again$"
        with pytest.raises(InputError, match=said):
            open_pretrained(str(tmp_path / name))
    assert not (tmp_path / "run").exists()  # no code of the folder ran


def with_code(bert: Path, folder: Path, name: str, model_type: str) -> Path:
    """A folder whose configuration and tokenizer name classes in a module of its own, which writes the file `ran`."""
    shutil.copytree(bert, folder / name)
    auto_map = {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"}
    auto_map["AutoModelForSequenceClassification"] = "mine.Head"
    changes = {
        "config.json": {"model_type": model_type, "auto_map": auto_map},
        "tokenizer_config.json": {"tokenizer_class": "Mine", "auto_map": {"AutoTokenizer": ["mine.Mine", "mine.Mine"]}},
    }
    for file, values in changes.items():
        content = read_json(folder / name / file)
        (folder / name / file).write_text(json.dumps({**content, **values}), encoding="utf-8")
    (folder / name / "mine.py").write_text(MODULE.format(ran=str(folder / "ran")), encoding="utf-8")
    return folder / name


MODULE = """
open({ran!r}, "w").close()
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast
class Config(BertConfig):
    model_type = "mine"
class Model(BertModel):
    config_class = Config
class Head(BertForSequenceClassification):
    config_class = Config
class Mine(PreTrainedTokenizerFast):
    pass
"""


@pytest.mark.parametrize("read", [open_pretrained, lambda path: open_without_weights(Path(path))])
def test_code_of_a_folder_never_runs_whatever_is_answered(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[str], Pretrained]
) -> None:
    """transformers would ask whether to run it, and a line of the texts on standard input would be the answer."""
    asked: list[object] = []

    def yes(*question: object) -> str:
        asked.append(question)
        return "y"

    monkeypatch.setattr("builtins.input", yes)
    unknown = with_code(bert, tmp_path, "unknown", "mine")
    refused(lambda: read(str(unknown)))
    # transformers' own classes are used where there are any.
    known = read(str(with_code(bert, tmp_path, "known", "bert")))
    assert type(known.body).__module__.startswith("transformers.models.bert")
    assert type(known.classifier(2)).__module__.startswith("transformers.models.bert")
    assert asked == [] and not (tmp_path / "ran").exists()


class Code:
    """A pickle that runs code when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def write_wrong(bert: Path, folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    (folder / "a-file").write_text("", encoding="utf-8")
    damaged = {"damaged-config": "config.json", "damaged-tokenizer": "tokenizer.json"}
    for name in ("nothing", "unknown", "no-weights", "no-tokenizer", "damaged", "half", "other-size", "pickle"):
        shutil.copytree(bert, folder / name)
    for name, file in damaged.items():
        shutil.copytree(bert, folder / name)
        (folder / name / file).write_text((bert / file).read_text(encoding="utf-8")[:-50], encoding="utf-8")
    (folder / "no-tokenizer/tokenizer.json").unlink()
    (folder / "nothing/config.json").unlink()
    config = read_json(bert / "config.json")
    for name, values in (("unknown", {}), ("other-size", {**config, "hidden_size": 64})):
        (folder / name / "config.json").write_text(json.dumps(values), encoding="utf-8")
    (folder / "no-weights/model.safetensors").unlink()
    (folder / "damaged/model.safetensors").write_bytes(b"damaged")
    weights = load_file(bert / "model.safetensors")
    left = {name: weight for name, weight in weights.items() if "layer.1" not in name}
    save_file(left, folder / "half/model.safetensors", metadata={"format": "pt"})
    (folder / "pickle/model.safetensors").unlink()
    torch.save({"a": Code(folder / "run")}, folder / "pickle/pytorch_model.bin")


def test_no_network_no_package_and_a_full_disk(monkeypatch: pytest.MonkeyPatch, bert: Path) -> None:
    import huggingface_hub.constants

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "model.safetensors")

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    refused(lambda: open_pretrained("nobody/nothing"))
    refused(lambda: opened("nobody/nothing", "its weights", full))
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: None)
    refused(lambda: open_pretrained(str(bert)))
