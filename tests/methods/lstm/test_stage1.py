"""Stage 1: its training, and that several runs share it."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
import yaml
from command_line import content, job
from data_files import read_json
from input_errors import refused
from lstm_parts import TRAINED, Parts, lstm_parts
from torch import nn

from mtl.base.files import write_json
from mtl.base.settings.schema import Config
from mtl.jobs.baseline import begin, run_baseline
from mtl.methods.lstm.stage1 import SharedStage1, pretrain, stage1_key
from mtl.model.network import Network
from mtl.runs.finished import find_runs

FOUR = ["pretrain.max_steps=8", "pretrain.validate_every=4", "seeds=[1]"]

pytestmark = pytest.mark.shares_stage1


def made(settings: list[str], run: Path, *further: str) -> Path:
    run_baseline(job([*settings, *FOUR, *further, f"run_dir={run}"]))
    return run


def trained_in(run: Path) -> str | None:
    return read_json(run / "seed-1/pretrain/done.json").get("trained_in")


@pytest.mark.slow
def test_a_run_of_another_stage_2_trains_it_not_again(settings: list[str], tmp_path: Path) -> None:
    change, first = "finetune.patience=1", made(settings, tmp_path / "runs/first")
    second = made(settings, tmp_path / "runs/second", change, f"cache_dir={tmp_path / 'of another node'}")
    alone = made(settings, tmp_path / "alone", change)
    assert trained_in(second) == str((first / "seed-1/pretrain").resolve())
    assert trained_in(first) is None and trained_in(alone) is None
    assert content(second) == content(alone) != {}
    weights = "seed-1/pretrain/best.ckpt"
    assert (first / weights).samefile(second / weights)  # no second copy on the disk
    # Who lists runs does not see the records.
    assert (tmp_path / "runs/.stage1").is_dir()
    assert sorted(run.name for run in find_runs(tmp_path / "runs")) == ["first", "second"]


def config(*settings: str) -> Config:
    return job(["suite=klej-sample", *settings]).config


def key_of(config: Config, tasks: Sequence[str] = ("one", "two"), data: str = "a", seed: int = 1) -> str:
    return stage1_key(config, tasks, {"data": data}, seed)


@pytest.mark.slow
def test_the_key_has_what_stage_1_reads() -> None:
    key = key_of(config())
    unread = "finetune.patience=3 finetune.threshold=bagged preset=paper submission.header=target trainer.threads=3"
    for settings in (f"{unread} seeds=[1,2]", "variant=finetune run_dir=x cache_dir=x seeds_in_parallel=2"):
        assert key_of(config(*settings.split())) == key
    read = "head.dropout=0.3 max_length=9 boundary_words=true loss.class_weights=1 held_out=0.3 pretrain.sampling=0"
    read += " encoder.hidden_size=7 variant=attention"
    others = [key_of(config(setting)) for setting in read.split()]
    others += [key_of(config(), data="b"), key_of(config(), seed=2), key_of(config(), tasks=("two", "one"))]
    assert len({key, *others}) == len(others) + 1


@pytest.mark.parametrize(
    "version",
    ["mtl.methods.lstm.stage1.FORMAT", "mtl.methods.lstm.stage1.VERSION", "numpy.__version__", "torch.__version__"],
)
def test_the_key_has_the_versions_of_what_computes(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    before = key_of(config())
    monkeypatch.setattr(version, "another")
    assert key_of(config()) != before


@pytest.mark.slow
def test_another_tokenizer_trains_another_stage_1_and_does_not_continue_a_run(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _, _ = begin(job([*settings, f"run_dir={tmp_path / 'one'}"]))
    monkeypatch.setattr("sacremoses.__version__", "another")
    after, _, _ = begin(job([*settings, f"run_dir={tmp_path / 'two'}"]))
    assert not set(before.shared.values()) & set(after.shared.values())
    refused(lambda: begin(job([*settings, f"run_dir={tmp_path / 'one'}"])), file="one")


def test_a_suite_with_its_tasks_in_another_order_has_another_stage_1(
    settings: list[str], suite_file: Path, tmp_path: Path, elmo_files: tuple[Path, Path]
) -> None:
    """The order decides the first weights of the network, the place of each head and the schedule."""
    read = yaml.safe_load(suite_file.read_text(encoding="utf-8"))
    read["tasks"] = dict(reversed(read["tasks"].items()))
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(read, sort_keys=False, allow_unicode=True), encoding="utf-8")
    elmo = [*(of for of in settings if not of.startswith("embeddings.dim")), "embeddings=elmo", "seeds=[1]"]
    elmo += [f"embeddings.path={elmo_files[0].parent}"]
    begun = [begin(job([*elmo, f"run_dir={tmp_path / 'one'}"]))[0]]
    begun += [begin(job([*elmo, f"suite={tmp_path / 'other.yaml'}", f"run_dir={tmp_path / 'two'}"]))[0]]
    assert begun[0].inputs == begun[1].inputs and begun[0].shared != begun[1].shared


NETWORK = nn.Linear(2, 3)
RECORD = {"average": 2.0, "seconds": 1.0, "peak_memory": 1, "curve": [{"step": 1.0, "dev/average": 2.0}]}


def finished(folder: Path, shared: SharedStage1) -> Path:
    folder.mkdir(parents=True)
    torch.save({"state_dict": NETWORK.state_dict()}, folder / "best.ckpt")
    write_json(folder / "done.json", {"key": shared.key, **RECORD})
    shared.record(folder)
    return folder


def take(shared: SharedStage1, folder: Path) -> bool:
    return shared.take(folder, NETWORK, "stage 1")


def test_the_record_says_where_it_was_trained_also_when_the_first_run_is_removed(tmp_path: Path) -> None:
    shared = SharedStage1(tmp_path / "records", "k")
    source = finished(tmp_path / "one", shared)
    for name in ("two", "three"):
        assert take(shared, tmp_path / name)
        assert read_json(tmp_path / name / "done.json") == {"key": "k", **RECORD, "trained_in": str(source)}
        shutil.rmtree(source, ignore_errors=True)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "removed": lambda source: source.rename(source.parent / "moved"),
    "no weights": lambda source: (source / "best.ckpt").unlink(),
    "no checkpoint": lambda source: torch.save([1], source / "best.ckpt"),
    "another shape": lambda source: torch.save({"state_dict": nn.Linear(2, 4).state_dict()}, source / "best.ckpt"),
    "another key": lambda source: write_json(source / "done.json", {"key": "other", **RECORD}),
    "another record": lambda source: write_json(source.parent / "records/k.json", ["x"]),
    "no JSON": lambda source: (source.parent / "records/k.json").write_text("{", encoding="utf-8"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_there_whole_is_trained_again(tmp_path: Path, damage: str) -> None:
    shared = SharedStage1(tmp_path / "records", "k")
    begun = tmp_path / "two/last.ckpt"
    begun.parent.mkdir()
    begun.touch()
    assert not take(shared, begun.parent)
    DAMAGES[damage](finished(tmp_path / "one", shared))
    assert not take(shared, begun.parent)
    assert list(begun.parent.iterdir()) == [begun]  # what was begun is continued


def test_it_stays_shared_when_all_runs_are_moved(tmp_path: Path) -> None:
    finished(tmp_path / "before/one", SharedStage1(tmp_path / "before/records", "k"))
    (tmp_path / "before").rename(tmp_path / "after")
    assert take(SharedStage1(tmp_path / "after/records", "k"), tmp_path / "after/two")


def test_only_a_finished_stage_with_this_key_is_recorded_and_behind_no_link(tmp_path: Path) -> None:
    shared = SharedStage1(tmp_path / "records", "k")
    source = finished(tmp_path / "one", SharedStage1(tmp_path / "records", "other"))
    shared.record(source)
    shared.record(tmp_path / "none")
    assert [path.name for path in (tmp_path / "records").iterdir()] == ["other.json"]
    (tmp_path / "link").symlink_to(tmp_path / "records")
    refused(lambda: SharedStage1(tmp_path / "link", "k"), file="link")


def train(parts: Parts, folder: Path, seed: int = 1) -> Network:
    shared = SharedStage1(folder.with_name("shared"), f"{folder.name} {seed}")
    return pretrain(parts.config, parts.data, parts.sequences, parts.embeddings, seed, folder, shared)


@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_it_trains_on_the_rows_of_every_target_kind_together(tmp_path: Path, variant: str) -> None:
    steps = ["pretrain.max_steps=12", "pretrain.validate_every=4", "pretrain.learning_rate=0.01"]
    parts = lstm_parts(tmp_path, f"variant={variant}", *steps)
    network = train(parts, tmp_path / "pretrain")
    before = parts.network()
    changed = {
        name.rpartition(".")[0]
        for name, value in network.state_dict().items()
        if not torch.equal(value, before.state_dict()[name])
    }
    assert {f"heads.layers.{place}" for place in range(4)} <= {".".join(name.split(".")[:3]) for name in changed}
    assert any(name.startswith("encoder.lstm") for name in changed) and "encoder.embedder.table" in changed
    done = read_json(tmp_path / "pretrain/done.json")
    assert [row["step"] for row in done["curve"]] == [4, 8, 12]
    scores = {f"dev/{task.id}" for task in TRAINED}  # a task that another one's head answers has no dev score
    assert {name for name in done["curve"][0] if name.startswith("dev/")} == scores | {"dev/average"}
    for row in done["curve"]:
        assert row["dev/average"] == pytest.approx(sum(row[name] for name in scores) / 4)


def test_a_finished_stage_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = lstm_parts(tmp_path)
    trained = train(parts, tmp_path / "pretrain")
    monkeypatch.setattr("mtl.methods.lstm.stage1.fit_tasks", None)
    record = next((tmp_path / "shared").glob("*.json"))
    written = record.read_bytes()
    record.unlink()  # as if the process had been killed before it wrote the record
    loaded = train(parts, tmp_path / "pretrain").state_dict()
    assert all(torch.equal(value, loaded[name]) for name, value in trained.state_dict().items())
    assert record.read_bytes() == written
