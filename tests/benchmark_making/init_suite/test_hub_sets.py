"""Data sets of a server that answers as the Hugging Face Hub does, by their names: what is guessed of them, and the files of a suite."""

import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import yaml
from data_files import sentences
from golden import check_golden
from hub_server import HubServer, hub_server
from input_errors import raises_input_error
from pyarrow import parquet

from mtl.api.cli import main
from mtl.benchmark_making.init_suite.hub_sets import CONVERTED
from mtl.benchmark_making.init_suite.init_suite import init_suite
from mtl.benchmark_making.init_suite.known_keys import parse_answers
from mtl.data.loading import load_dataset
from mtl.tasks.suite import load_suite

NAMES = {"cola": ["unacceptable", "acceptable"], "mnli": ["entailment", "neutral", "contradiction"]}
CARD = """---
license: cc0-1.0
language: [pl]
configs:
- config_name: cola
  data_files:
  - {split: train, path: cola/train-*}
  - {split: validation, path: cola/validation-*}
- config_name: mnli
  data_files:
  - {split: train, path: mnli/train-*}
  - {split: validation_matched, path: mnli/validation_matched-*}
  - {split: validation_mismatched, path: "mnli/validation_mismatched-?????-of-*.parquet"}
  - {split: unlabelled_pool, path: mnli/pool.parquet}
---
# A benchmark
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.chdir(tmp_path)
    with hub_server(monkeypatch, tmp_path / "cache") as server:
        yield server


def rows(number: int, labels: int = 2, words: str = "") -> list[dict[str, Any]]:
    return [{"text": text, "label": i % labels} for i, text in enumerate(sentences(number, words))]


def table(content: list[dict[str, Any]], labels: list[str] | None = None) -> bytes:
    """A parquet file, perhaps with the names of labels as the Hub keeps them."""
    described = {"info": {"features": {"label": {"names": labels, "_type": "ClassLabel"}}}}
    metadata = {"huggingface": json.dumps(described)} if labels else None
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(content).replace_schema_metadata(metadata), file)
    return file.getvalue()


def csv(content: list[dict[str, Any]]) -> bytes:
    return "".join(["text,label\n", *(f"{row['text']},{row['label']}\n" for row in content)]).encode()


def glue() -> dict[str, bytes]:
    """A benchmark with two configurations, one of which has a split in parts."""
    files = {f"cola/train-0000{i}-of-00003.parquet": table(rows(20, 2, f"part {i}"), NAMES["cola"]) for i in range(3)}
    files["cola/validation-00000-of-00001.parquet"] = table(rows(30))
    files["mnli/train-00000-of-00001.parquet"] = table(rows(60, 3), NAMES["mnli"])
    for split in ("matched", "mismatched"):
        files[f"mnli/validation_{split}-00000-of-00001.parquet"] = table(rows(30, 3, split), NAMES["mnli"])
    return {"README.md": CARD.encode(), ".gitattributes": b"*", "mnli/pool.parquet": table(rows(9)), **files}


def test_configurations_are_tasks_of_the_commit_that_was_read(server: HubServer, tmp_path: Path) -> None:
    server.datasets["owner/bench"] = {"main": glue()}
    commit = server.commit("owner/bench", "main")
    done = init_suite("hf://owner/bench")
    text = f"{done.summary}\n\n{done.document}".replace(f'"{commit}"', commit)
    check_golden("init-suite-hub.txt", text.replace(commit, "COMMIT"))
    assert not list(tmp_path.glob("data"))
    # Later commits change nothing: all parts are those that were read.
    server.datasets["owner/bench"] = {"main": {}, "old": server.datasets["owner/bench"]["main"]}
    content = yaml.safe_load(done.document)
    del content["tasks"]["mnli"]
    done.path.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert main(["data", str(done.path)]) == 0
    data = tmp_path / "data" / "bench"
    of_cola = sorted(path for path in glue() if path.startswith("cola/"))
    assert sorted(path.relative_to(data).as_posix() for path in data.rglob("*.parquet")) == of_cola
    suite = load_suite(done.path)
    dataset = load_dataset(suite, suite.choose(None), data, 0.1)
    assert len(dataset.splits["cola"]["train"].targets) == 60 and set(dataset.fingerprints) >= set(of_cola)


def test_one_configuration_and_what_there_is_not(server: HubServer) -> None:
    server.datasets["owner/bench"] = {"main": glue(), "v1": glue()}
    for number, address in enumerate(("hf://owner/bench/cola", "hf://datasets/owner/bench@v1/cola")):
        done = init_suite(address, name="one", out=Path(f"{number}.yaml"))
        assert f"mtl data {number}.yaml" in done.summary and list(load_suite(done.path).tasks) == ["cola"]
    assert not any("mnli" in request for request in server.requests)
    for address in ("hf://bench", "hf://owner/bench/nix", "hf://owner/nix", "hf://owner/bench@nix"):
        with raises_input_error():
            init_suite(address)


def test_a_script_is_not_run(server: HubServer) -> None:
    """What the Hub has converted stands in the place of the data; without it, the message says what to do."""
    script = {"data.py": b"raise", "dataset_infos.json": b"{}", "dummy/1/dummy_data.zip": b"x"}
    parts = {f"default/train/000{i}.parquet": table(rows(30, 2, str(i)), NAMES["cola"]) for i in range(2)}
    parts |= {"default/partial-test/0000.parquet": table(rows(30, 2, "test"))}
    server.datasets["owner/old"] = {"main": script, CONVERTED: parts}
    content = yaml.safe_load(init_suite("hf://owner/old").document)["tasks"]["old"]
    assert content["hub"]["revision"] == server.commit("owner/old", CONVERTED)
    assert (content["folder"], content["files"]["train"]) == ("default", "train/0000.parquet#*")
    assert content["rows"]["train"] == 60 and "may be the split partial-test" in content["decide"][0]
    server.datasets |= {"owner/none": {"main": script}, "owner/empty": {"main": {"README.md": b"# soon"}}}
    for name in ("none", "empty"):
        with raises_input_error():
            init_suite(f"hf://owner/{name}")


def test_configurations_that_may_not_be_tasks_are_asked_for(server: HubServer) -> None:
    card = """---
configs:
- {config_name: all, default: true, data_files: "*/*.csv"}
- {config_name: de, data_dir: de, data_files: []}
- config_name: odd
  data_files:
  - {split: corpus, path: [odd/a.csv, odd/b.csv]}
---
"""
    files = {path: csv(rows(30, 2, path[:-4])) for path in ("de/train.csv", "de/test.csv", "odd/a.csv", "odd/b.csv")}
    server.datasets["owner/several"] = {"main": {"README.md": card.encode(), **files}}
    done = init_suite("hf://owner/several", "de")
    commit = server.commit("owner/several", "main")
    check_golden("init-suite-hub-questions.txt", done.document.replace(f'"{commit}"', commit).replace(commit, "COMMIT"))
    done.path.unlink()
    task = yaml.safe_load(init_suite("hf://owner/several/de", "de").document)["tasks"]["de"]
    assert "decide" not in task and task["files"] == {"train": "train.csv", "dev": None, "test": "test.csv"}


def test_answers_on_files_that_no_card_names(server: HubServer) -> None:
    """Their names say the splits, as in a folder."""
    content = [{"text": row["text"], "kind": row["label"], "tone": "xy"[i // 2 % 2]} for i, row in enumerate(rows(60))]
    files = {f"data/{split}.parquet": table(content) for split in ("train", "dev")}
    server.datasets["owner/asks"] = {"main": files}
    done = init_suite("hf://owner/asks", "en")
    assert "mtl init-suite hf://owner/asks@" in done.summary and "decide: asks: target" in done.summary
    done.path.unlink()
    files["README.md"] = b"---\nlicense: mit\n---\n"
    done = init_suite("hf://owner/asks", "en", known=parse_answers(["tasks.asks.target=tone"]))
    assert load_suite(done.path).tasks["asks"].labels == ["x", "y"] and "license: mit" in done.document


BAD_PATTERNS = ("nix-*", "'[z-a]*'", "'a**b**c**d**e**'", "../../etc/passwd")
BAD_CONFIGS = [f"- {{config_name: c, data_files: {pattern}}}\n" for pattern in BAD_PATTERNS]

BAD_CONFIGS.append("".join(f"- {{config_name: c{i}, data_files: train.csv}}\n" for i in range(60)))


@pytest.mark.parametrize("configs", BAD_CONFIGS, ids=count())
def test_bad_cards(server: HubServer, configs: str) -> None:
    card = f"---\nconfigs:\n{configs}---\n"
    server.datasets["owner/bad"] = {"main": {"README.md": card.encode(), "train.csv": csv(rows(30))}}
    with raises_input_error():
        init_suite("hf://owner/bad", "en")


@pytest.mark.parametrize("item", ["{split: dev}", "{split: dev, path: []}", "'*t*r*a*i*n*.*c*v'"])
def test_a_split_without_files_is_ignored_and_patterns_do_not_backtrack(server: HubServer, item: str) -> None:
    card = f"---\nconfigs: [{{config_name: c, data_files: [{item}]}}]\n---\n"
    files = {"train.csv": csv(rows(30)), f".{'train' * 400}": b""}
    server.datasets["owner/odd"] = {"main": {"README.md": card.encode(), **files}}
    assert init_suite("hf://owner/odd", "en").document.count("train: train.csv") == 1
