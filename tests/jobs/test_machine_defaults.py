"""What `mtl baseline` takes where the settings leave it open: the preset that the machine can train, and one seed where all are alike."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import content, job
from data_files import read_json
from input_errors import raises_input_error, refused
from small_suite import write_suite

from mtl.base.settings.layers import differences, save_config
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import CHOSEN, load_job, load_run
from mtl.jobs.setting_files import COMMAND_LINE, DEFAULTS
from mtl.methods import METHODS
from mtl.runs.folder import RunFolder
from mtl.runs.stored import RUNNING, stored_runs


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has a GPU."""
    monkeypatch.setattr("mtl.jobs.job.device_of", lambda accelerator: SimpleNamespace(type="cuda"))


def begin(settings: dict[str, Any]) -> RunFolder:
    """A folder in which a run with these settings has begun."""
    begun = load_job(settings)
    begun.folder.path.mkdir(parents=True)
    save_config(begun.config, begun.folder.config)
    return begun.folder


@pytest.mark.parametrize(
    ("named", "preset", "size"),
    [
        ({}, "strong", 128),
        ({"preset": "paper"}, "paper", 1024),
        ({"preset": "laptop"}, "laptop", 128),
        ({"architecture": "jiant"}, "paper", 1024),
        ({"architecture": "paper"}, "paper", 1024),
        ({"encoder.hidden_size": 300}, "paper", 300),
        ({"engine": "ray"}, "paper", 1024),  # its machines are not this one
        ({"suite": "klej-sample"}, "paper", 64),  # the suite has a size
    ],
)
def test_without_a_gpu_the_preset_is_strong_unless_a_size_is_set(named: dict[str, Any], preset: str, size: int) -> None:
    config = load_run({"suite": "klej", **named}).config
    assert (config.preset, config.encoder.hidden_size) == (preset, size)


@pytest.mark.parametrize("sizing", ["suite", "method", "variant"])
def test_a_size_that_a_file_sets_stays(tmp_path: Path, sizing: str) -> None:
    suite, size = write_suite(tmp_path), "encoder: {hidden_size: 32}\n"
    method, variant = tmp_path / "mine.yaml", tmp_path / "frozen32.yaml"
    method.write_text("method: lstm\n" + (size if sizing == "method" else ""), encoding="utf-8")
    variant.write_text("variant: frozen32\n" + (size if sizing == "variant" else ""), encoding="utf-8")
    if sizing == "suite":
        with suite.open("a", encoding="utf-8") as file:
            file.write("config: {methods: {lstm: {encoder: {hidden_size: 32}}}}\n")
    config = load_run({"suite": str(suite), "method": str(method), "variant": str(variant)}).config
    assert (config.preset, config.encoder.hidden_size) == ("paper", 32)


def test_with_a_gpu_it_is_the_paper_s(gpu: None) -> None:
    assert load_run({"suite": "klej"}).config == load_job({"suite": "klej"}).config


def test_the_choice_is_said_once_and_stands_in_the_configuration(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    chosen = load_run({"suite": "klej", "embeddings": "fasttext"})
    load_run({"suite": "klej", "embeddings": "fasttext"})
    assert chosen.config == load_job({"suite": "klej", "embeddings": "fasttext", "preset": "strong"}).config
    assert chosen.folder.path == Path("runs/klej/fasttext-frozen-strong-overlap-linear")
    assert caplog.messages == [
        "preset=strong, since there is no GPU; preset=paper is the paper's model, with 1,024 units"
    ]


@pytest.mark.slow
def test_a_begun_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level("INFO")
    begin({"suite": "klej"})
    assert load_run({"suite": "klej"}).config.preset == "paper"
    begin({"suite": "klej", "preset": "strong", "run_dir": "mine"})
    begin({"suite": "klej", "preset": "laptop", "run_dir": "other"})
    begin({"suite": "klej", "embeddings": "fasttext", "encoder.hidden_size": 32})
    assert load_run({"suite": "klej", "embeddings": "fasttext"}).config.preset == "strong"  # a trial of another size
    caplog.clear()
    begin({"suite": "klej", "method": "logistic"})
    assert load_run({"suite": "klej", "method": "logistic"}).config.seeds == [1, 2, 3, 4, 5]
    assert caplog.messages == []
    monkeypatch.setattr("mtl.jobs.job.device_of", lambda accelerator: SimpleNamespace(type="cuda"))
    assert load_run({"suite": "klej", "run_dir": "mine"}).config.preset == "strong"
    other = load_run({"suite": "klej", "run_dir": "other"})
    assert "preset: laptop there, paper here" in differences(other.folder.config, other.config)


def test_where_values_come_from() -> None:
    origins = load_run({"suite": "klej", "embeddings": "fasttext", "held_out": 0.2}).origins
    assert (origins["preset"], origins["suite"], origins["held_out"]) == (CHOSEN, COMMAND_LINE, COMMAND_LINE)
    assert (origins["embeddings.name"], origins["variant"], origins["seeds"]) == (COMMAND_LINE, DEFAULTS, DEFAULTS)
    assert origins["encoder.hidden_size"] == "preset=strong" and origins["embeddings.dim"] == "embeddings=fasttext"
    origins = load_run({"suite": "klej-sample", "method": "constant"}).origins
    assert (origins["seeds"], origins["trainer.threads"]) == (CHOSEN, "suite klej-sample: config")


def test_a_number_of_seeds_stands_for_the_first_ones_in_every_layer(tmp_path: Path) -> None:
    preset = tmp_path / "mine.yaml"
    preset.write_text("preset: mine\nseeds: 3\n", encoding="utf-8")
    assert load_job({"suite": "klej", "preset": str(preset)}).config.seeds == [1, 2, 3]
    assert load_job({"suite": "klej", "preset": str(preset), "seeds": 2}).config.seeds == [1, 2]
    assert load_job({"suite": "klej", "seeds": [2]}).config.seeds == [2]


DETERMINISTIC = [name for name, kind in METHODS.items() if kind.is_deterministic]


def test_methods_without_chance_have_one_seed_unless_seeds_are_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    assert load_run({"suite": "klej", "method": "logistic"}).config.seeds == [1]
    assert load_run({"suite": "klej", "method": "logistic", "seeds": 2}).config.seeds == [1, 2]
    assert load_run({"suite": "klej", "method": "forest"}).config.seeds == [1, 2, 3, 4, 5]
    load_run({"method": "logistic", "seeds": 2})
    one = "one seed, since method logistic gives the same result with every seed"
    assert caplog.messages == [one, "no suite= is set: this is klej-sample, the embedded sample of KLEJ"]


@pytest.mark.parametrize("method", [name for name in DETERMINISTIC if name not in ("lead", "word_vectors")])
def test_their_seeds_are_alike(method: str, floor_settings: list[str]) -> None:
    tasks = ["tasks=[kansla,samma]"] if method == "naive_bayes" else []
    run = job([*floor_settings, *tasks, f"method={method}", "seeds=[1,2]"])
    assert METHODS[method].is_one_system(run.config)
    run_baseline(run)
    files = [content(run.folder.seed(seed) / "predictions") for seed in (1, 2)]
    assert files[0] == files[1] and files[0]


@pytest.mark.slow
def test_further_seeds_of_a_finished_run_are_trained(settings: list[str], tmp_path: Path) -> None:
    first = run_baseline(job([*settings, "seeds=[1]"]))
    done = (tmp_path / "run/seed-1/scores.json").read_bytes()
    both = run_baseline(job([*settings, "seeds=[1,2]"]))
    assert (tmp_path / "run/seed-1/scores.json").read_bytes() == done
    assert both["seeds"] == [1, 2] and first["tasks"]["betyg"]["scores"]["1"] == both["tasks"]["betyg"]["scores"]["1"]
    assert run_baseline(job([*settings, "seeds=[2]"])) == both  # some of its seeds are the finished run
    for other in ("seeds=[3]", "seeds=[1,3]", "seeds=[1,2,3] held_out=0.2"):
        with raises_input_error(file="run"):
            run_baseline(job([*settings, *other.split()]))
    assert read_json(tmp_path / "run/summary.json")["seeds"] == [1, 2]
    config = (tmp_path / "run/config.yaml").read_bytes()
    refused(lambda: run_baseline(job([*settings, "seeds=[1,2,3]", f"data_dir={tmp_path / 'none'}"])))
    assert (tmp_path / "run/config.yaml").read_bytes() == config
    (tmp_path / "data/dev.tsv").write_text("text\tlabel\nsolen\tglad\n", encoding="utf-8")
    refused(lambda: run_baseline(job([*settings, "seeds=[1,2,3]"])), file="run")
    assert read_json(tmp_path / "run/summary.json")["seeds"] == [1, 2]


@pytest.mark.slow
def test_a_finished_run_stays_so_until_its_further_seeds_are_done(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_baseline(job([*settings, "seeds=[1]"]))
    files = [tmp_path / "run" / name for name in ("summary.json", "table.md", "config.yaml")]
    before = [file.read_bytes() for file in files]
    states = []

    def killed(*_: object) -> None:
        states.append([run.state for run in stored_runs(tmp_path / "run")])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("mtl.jobs.baseline.run_seed", killed)
        run_baseline(job([*settings, "seeds=[1,2]"]))
    assert states == [[RUNNING]]  # while it trains, and others may read it
    assert [file.read_bytes() for file in files] == before
    assert run_baseline(job([*settings, "seeds=[1]"]))["seeds"] == [1]
    assert run_baseline(job([*settings, "seeds=[1,2]"]))["seeds"] == [1, 2]
    assert differences(files[2], job([*settings, "seeds=[1,2]"]).config) == []


@pytest.mark.slow
def test_further_seeds_are_checked_as_a_new_run(settings: list[str]) -> None:
    run_baseline(job([*settings, "seeds=[1]"]))
    further = [*settings, "seeds=[1,2]"]
    for bad in ("trainer.callbacks=[none:None]", "trainer.precision=16-mixed"):
        with raises_input_error():
            run_baseline(job([*further, bad]))
    large = job([*further, "seeds_in_parallel=2", "resources.memory=100000"])
    refused(large.check_memory, key="resources.memory")
