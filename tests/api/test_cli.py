import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from golden import check_golden
from processes import LEAN
from small_suite import SMALL

import mtl
from mtl.api.cli import main
from mtl.base.settings.layers import shipped


def test_nothing_heavy_is_imported_for_help_or_version() -> None:
    code = "import sys; from mtl.api.cli import main\ntry: main([sys.argv[1]])\nexcept SystemExit: pass\n"
    code += "sys.exit(bool({'torch', 'omegaconf', 'numpy', 'pytorch_lightning'} & set(sys.modules)))"
    for option in ("--help", "--version"):
        assert subprocess.run([sys.executable, "-c", code, option], capture_output=True).returncode == 0


BAD = [
    *("baseline encoder.width=3", "baseline suite=klej data_dir=none", "baseline suite=klej-sample data_dir=none method=majority"),
    *("baseline suite=klej-sample tasks=[glue]", "baseline suite=klej-sample run_dir=/proc/none", "data klej tasks=[glue]"),
    *("baseline suite=klej-sample embeddings=glove", "embeddings fetch fasttext recipe=none", "predict none x.tsv --task cbd"),
]  # fmt: skip
FOREIGN = ["predict", "none\x1b]0;x\nmtl: fine", "x.txt", "--task", "cbd"]  # it cannot write a line of its own
USAGE = ["", "basline", "report runs\udcff", "baseline --fast", "embeddings fetch"]
USAGE += ["predict run x.tsv --task cbd --seed one"]


def test_bad_input_and_wrong_usage_are_one_line_and_exit_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = []
    for arguments in [*map(str.split, BAD), FOREIGN]:
        assert main(arguments) == 2
        said.append(capsys.readouterr().err)
    for words in USAGE:
        with pytest.raises(SystemExit) as caught:
            main(words.split())
        assert caught.value.code == 2
        said.append(capsys.readouterr().err)
    assert all(line.startswith("mtl: error: ") and line.count("\n") == 1 for line in said)
    check_golden("command-errors.txt", "".join(said))
    with pytest.raises(SystemExit):
        main(["qqq"])
    assert "invalid choice: 'qqq'; choose from baseline, " in capsys.readouterr().err


def test_sigterm_interrupts_any_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def unheard(*_: object) -> None:
        raise AssertionError("the command does not handle SIGTERM")

    monkeypatch.setattr("mtl.embedders.recipes.fetch_embeddings", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, unheard)
    try:
        assert main(["embeddings", "fetch", "fasttext"]) == 130
        assert signal.getsignal(signal.SIGTERM) is unheard
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == "mtl: interrupted; the same command continues\n"


def test_scoring_names_the_suite(
    suite_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(suite_file.parent)
    (suite_file.parent / "empty").mkdir()
    check, score = ["check-submission", "empty"], ["score", "empty", "--gold", "empty"]
    absent = "suite klej-sample (KLEJ's data is not there; name another suite with suite=)"
    for command, setting, line in [
        (check, f"suite={suite_file}", "suite liten"),
        (check, "suite=auto", absent),
        (score, "max_length=9", absent),
    ]:
        caplog.clear()
        assert main([*command, setting]) == 2
        assert line in [record.message for record in caplog.records]


@pytest.mark.slow
def test_predict(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, texts = str(small_run), str(small_run.parent / "data/test.tsv")
    assert main(["predict", run, texts, "--task", "kansla"]) == 0
    predictions = small_run / f"seed-{mtl.load(small_run).seed}/predictions/test_pred_kansla.tsv"
    written = capsys.readouterr().out
    assert written == predictions.read_text(encoding="utf-8")
    assert main(["predict", run, "kansla", texts]) == 0 and capsys.readouterr().out == written
    for words in (["kansla", texts, "--task", "kansla"], [texts]):
        assert main(["predict", run, *words]) == 2
    named, several = capsys.readouterr().err.splitlines()
    assert "the task is named twice" in named and "has several tasks; name one, as in mtl predict RUN" in several


TRAINING = {"pytorch_lightning", "lightning_fabric", "torchmetrics"}  # what only training needs
RUN = """
import json, sys
from mtl.api.cli import main
statuses = [main(command) for command in json.loads(sys.argv[1])]
print(json.dumps([statuses, sorted(sys.modules)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "absent"),
    [
        (["predict {run} {folder}/data/test.tsv --task kansla --out {out}/p.tsv", "encode {run} {folder}/data/test.tsv --out {out}/v.npy"],
         {*TRAINING, "scipy", "sklearn"}),
        (["score {run}/seed-1/predictions --gold {run}/gold suite={folder}/liten.yaml",
          "import other {run}/seed-1/predictions suite={folder}/liten.yaml data_dir={folder}/data run_dir={out}/other",
          "runs {out}", "report {out} --out {out}/report", "power {out}",
          "init-suite {folder}/data --out {out}/guessed.yaml"],
         {*TRAINING, "torch", "sacremoses", "sklearn"}),
        (["baseline method=logistic floor.keep=true seeds=[1] suite={folder}/liten.yaml data_dir={folder}/data run_dir={out}/logistic",
          "ensemble {run} {out}/logistic seeds=[1] baselines=false run_dir={out}/ensemble",
          "audit suite={folder}/liten.yaml data_dir={folder}/data"], TRAINING),
    ],
)  # fmt: skip
def test_commands_import_what_they_need(small_run: Path, tmp_path: Path, commands: list[str], absent: set[str]) -> None:
    places = {"run": small_run, "folder": small_run.parent, "out": tmp_path}
    words = json.dumps([[word.format(**places) for word in command.split()] for command in commands])
    done = subprocess.run([sys.executable, "-c", RUN, words], capture_output=True, text=True)
    statuses, imported = json.loads(done.stdout.splitlines()[-1])
    assert not any(statuses), done.stderr
    assert "numpy" in imported and absent & set(imported) == set()


@pytest.mark.slow
def test_the_wheel_has_all_that_a_run_needs(tmp_path: Path) -> None:
    """Unpacked alone, away from the checkout, it runs the sample (its dependencies being there)."""
    root = Path(__file__).parents[2]
    source = tmp_path / "source"
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "mtl", "configs", "embeddings"):
        (source / name).symlink_to(root / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        assert not [name for name in archive.namelist() if name.startswith(("tests", "configs", "embeddings"))]
    empty = tmp_path / "empty"
    empty.mkdir()
    small = "encoder.hidden_size=8 pretrain.max_steps=4 pretrain.validate_every=4 finetune.max_epochs=1 seeds=[1] tasks=[cbd]"
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from mtl.api.cli import main; sys.exit(main())"
    run = [sys.executable, "-c", code, str(tmp_path / "site"), "baseline", "suite=klej-sample", *small.split()]
    done = subprocess.run(run, cwd=empty, env={**os.environ, "PYTHONPATH": str(LEAN)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (empty / "runs/klej-sample/random-frozen/summary.json").exists()


def test_memory_that_runs_out_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fetch(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("mtl.embedders.recipes.fetch_embeddings", fetch)
    assert main(["embeddings", "fetch", "fasttext"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mtl: error: memory ran out; free some memory")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["baseline", pytest.param("sweep", marks=pytest.mark.wings)])
def test_memory_that_the_machine_lacks_is_refused_before_the_heavy_imports(tmp_path: Path, command: str) -> None:
    (tmp_path / "sweep.yaml").write_text("runs: [{}]", encoding="utf-8")
    words = [command, *([str(tmp_path / "sweep.yaml")] if command == "sweep" else [])]
    words += ["suite=klej-sample", f"runs_dir={tmp_path}", f"data_dir={tmp_path / 'data'}"]
    words += ["seeds=[1,2]", "seeds_in_parallel=2", "resources.memory=1e6"]
    code = f"import sys; from mtl.api.cli import main; print(main({words!r}), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2 False\n"
    assert re.fullmatch(
        r"mtl: error: resources.memory: a seed needs 1000000.0 GB of memory, .* more than this machine has; set a smaller one\n",
        done.stderr,
    )


@pytest.mark.parametrize(
    "words",
    [
        "suite=klej --encoder.hidden_size 64 --seeds=2",
        "--suite klej encoder.hidden_size=64 --seeds 2",
        "--encoder.hidden-size=64 --seeds [1,2] --suite=klej",
    ],
)
def test_settings_may_be_written_as_options(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *words.split()]) == 0
    lines = [line.split("#") for line in capsys.readouterr().out.splitlines()]
    shown = {setting.strip(): origin.strip() for setting, origin in lines}
    for setting in ("suite=klej", "encoder.hidden_size=64", "seeds=[1,2]"):
        assert shown[setting] == "command line"
    assert shown["preset=paper"] == shown["encoder.num_layers=2"] == "configs/baseline.yaml"
    assert shown["head.attention=false"] == "variant=frozen"
    assert not any(setting.startswith(("floor.grid", "transformer.")) for setting in shown)  # an LSTM reads no such key
    # What is printed gives the same configuration.
    assert main(["config", *shown]) == 0
    again = [line.split("#")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert again == list(shown)


@pytest.mark.wings
def test_options_of_a_command_stay(suite_file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = ["--data_dir", str(tmp_path / "data")]
    assert main(["data", "--suite", str(suite_file), *data, "--write-splits", str(tmp_path / "splits")]) == 0
    assert main(["audit", "--suite", str(suite_file), *data, "--strict"]) in (0, 1)
    capsys.readouterr()
    for words, error in [
        (["baseline", "--suite"], "--suite needs a value, as in --suite VALUE"),
        (["baseline", "--suite", "--seeds", "2"], "--suite needs a value"),
        (["baseline", "--epohcs", "3"], "unknown key 'epohcs'"),
        (["report", "--seeds", "3"], "unrecognized arguments: --seeds"),
    ]:
        with suppress(SystemExit):
            assert main(words) == 2
        assert error in capsys.readouterr().err


def test_the_help_of_baseline_has_every_key_in_groups_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["baseline", "--help"])
    text = capsys.readouterr().out
    keys = text.partition("(mtl config shows them):")[2].partition("A key in a section")[0]
    assert yaml.safe_load(keys) == yaml.safe_load((shipped("configs") / "baseline.yaml").read_text(encoding="utf-8"))
    assert "# units in each direction" in keys
    examples = re.findall(r"^  mtl baseline (.*)$", text, flags=re.MULTILINE)
    assert len(examples) == 2
    for example in examples:
        assert all("=" in word for word in example.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["method=random", "tasks=[kansla]"],
            "next: mtl baseline suite={suite} data_dir={data} cache_dir={cache} tasks='[kansla]' seeds=3    # an LSTM beside this simple baseline",
        ),
        (
            ["method=random", "runs_dir=runs t", "held_out=0.2"],
            "next: mtl baseline suite={suite} data_dir={data} runs_dir='runs t' cache_dir={cache} held_out=0.2 seeds=3"
            "    # an LSTM beside this simple baseline",
        ),
        ([*SMALL, "seeds=[1]"], "next: the same command with seeds=5    # at least 3 seeds are needed for tests between runs"),
        ([*SMALL, "seeds=[1,2,3]"], "next: mtl report {folder}    # all runs in one page, with intervals and tests"),
    ],
)  # fmt: skip
def test_after_the_table_stands_what_could_be_next(
    words: list[str], said: str, suite_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [f"suite={suite_file}", f"data_dir={tmp_path / 'data'}", f"run_dir={tmp_path / 'run'}"]
    quick = [] if "method=random" in words else ["pretrain.max_steps=4", "finetune.max_epochs=1"]
    assert main(["baseline", *places, f"cache_dir={tmp_path / 'cache'}", *words, *quick]) == 0
    after_the_table = capsys.readouterr().out.splitlines()[-2]
    assert after_the_table == said.format(
        suite=suite_file, data=tmp_path / "data", folder=tmp_path, cache=tmp_path / "cache"
    )


def test_two_tasks_with_one_file_of_splits_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"word {number}\t{number % 2}\n" for number in range(40))
    kind = "kind: labels, text: [text], target: label, labels: ['0', '1'], metric: accuracy"
    task = f"{{{kind}, folder: s, files: {{train: %s.tsv, dev: null, test: null}}}}"
    (tmp_path / "d/s").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / f"d/s/{name}.tsv").write_text(f"text\tlabel\n{rows}", encoding="utf-8")
    suite = tmp_path / "two.yaml"
    suite.write_text(f"name: two\nlanguage: en\ntasks:\n  a: {task % 'a'}\n  b: {task % 'b'}\n", encoding="utf-8")
    words = ["data", str(suite), f"data_dir={tmp_path / 'd'}", "--write-splits", str(tmp_path / "out")]
    assert main(words) == 2 and not (tmp_path / "out").exists()
    assert "two tasks have this file" in capsys.readouterr().err
    assert main([*words, "tasks=[a]"]) == 0
