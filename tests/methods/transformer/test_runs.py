"""Whole runs of a transformer: every kind of target, every variant, and what a finished run can do."""

import json
import multiprocessing
import os
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import content, job
from data_files import read_json
from input_errors import refused
from kinds_suite import write_kinds_suite
from spans_suite import write_spans_suite
from tiny_transformers import SIZE, write_bert

import mtl
from mtl.api.cli import main
from mtl.data.examples import read_examples, read_targets
from mtl.jobs.baseline import run_baseline
from mtl.methods.predictor import Predictor
from mtl.tasks.targets import target_kind
from mtl.training.checkpoints import WEIGHTS_FILES

pytestmark = pytest.mark.slow

TEXTS = [f"the film number {i} was fine lovely bright awful gloomy dull very nice" for i in range(20)]
TEXTS += [f"det var nog en ny bank fil lag mål nummer {i} och då log hon såg Anna Bo Carin" for i in range(20)]
SMALL = ["transformer.epochs=2", "transformer.batch_size=16", "transformer.learning_rate=0.002", "transformer.warmup=2"]
SMALL_HEADS = ["finetune.max_epochs=2", "finetune.batch_size=16"]
VARIANTS = {
    "finetune": ["transformer.keep=true"],
    "frozen": ["variant=frozen"],
    "dropped": ["tasks=[mood,mood-elsewhere]"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_bert(folder / "bert", TEXTS)
    for write, name in ((write_kinds_suite, "kinds"), (write_spans_suite, "spans")):
        (folder / name).mkdir()
        write(folder / name)
    return folder


def command(folder: Path, suite: str, *settings: str) -> list[str]:
    places = [f"suite={folder / suite / suite}.yaml", f"data_dir={folder / suite / 'data'}"]
    small = SMALL_HEADS if "variant=frozen" in settings else SMALL
    given = [f"transformer.path={folder / 'bert'}", "trainer.threads=1", *small, *settings]
    return ["baseline", *places, "method=transformer", *given]


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, Path]:
    """Finished runs on the suite with every kind of target, by variant; and `dropped`, without its weights."""
    made = {}
    for name, settings in VARIANTS.items():
        made[name] = folder / "kinds" / name
        assert main(command(folder, "kinds", *settings, "seeds=[1]", f"run_dir={made[name]}")) == 0
    return made


@pytest.mark.parametrize("variant", ["finetune", "frozen"])
def test_the_run_has_what_every_run_has(runs: dict[str, Path], variant: str) -> None:
    summary = read_json(runs[variant] / "summary.json")
    assert list(summary["tasks"]) == ["mood", "stars", "answer", "opposite", "mood-elsewhere"]
    assert (summary["family"], summary["title"]) == ("transformer", f"Transformer, bert, {variant}")
    assert (summary["folder"], summary["variant"]) == (f"transformer-bert-{variant}", variant)
    assert summary["hidden_size"] == SIZE["hidden_size"]
    cost = summary["cost"]
    assert cost["pretrain_seconds"] is None
    assert 0 < cost["parameters_without_embeddings"] < cost["parameters"]
    assert cost["finetune_seconds"] > 0 and cost["peak_memory"] > 0 and cost["sentences_per_second"] > 0
    assert summary["chosen_on_dev"] == ("checkpoints" if variant == "frozen" else "")
    assert "; ours chose" not in (runs[variant] / "table.md").read_text(encoding="utf-8") or variant != "finetune"


@pytest.mark.parametrize("variant", ["finetune", "frozen"])
def test_its_predictions_are_made_again(runs: dict[str, Path], folder: Path, variant: str) -> None:
    predictor = mtl.load(runs[variant])
    for task in ("mood", "answer", "opposite", "mood-elsewhere", "stars"):
        split = "dev" if task in ("mood", "answer") else "test"
        declared = predictor.suite.tasks[task]
        path = declared.path(split, folder / "kinds/data")
        again = predictor.predict(task, [example.row for example in read_examples(declared, path, targets=False)])
        saved = read_targets(declared, runs[variant] / f"seed-1/predictions/{split}_pred_{task}.tsv")
        if task == "stars":
            np.testing.assert_allclose([float(cell) for cell in again], saved, atol=1e-5)
        else:
            assert again == list(map(target_kind(declared).to_python, saved.tolist()))


def test_weights_are_removed_unless_they_are_kept_and_not_kept_later(runs: dict[str, Path], folder: Path) -> None:
    kept = sorted(path.parent.name for path in runs["finetune"].rglob("final.ckpt"))
    assert kept == ["answer", "mood", "opposite", "stars"]
    assert list(runs["dropped"].rglob("*.ckpt")) == []
    refused(lambda: mtl.load(runs["dropped"]), file="dropped")
    _, *made = command(folder, "kinds", *VARIANTS["dropped"], "seeds=[1]", f"run_dir={runs['dropped']}")
    assert run_baseline(job(made))["seeds"] == [1]
    refused(lambda: run_baseline(job([*made, "transformer.keep=true"])), file="dropped")


@pytest.mark.parametrize("variant", ["finetune", "frozen"])
@pytest.mark.parametrize("pooling", [None, "max"])
def test_a_text_s_vector_is_the_same_in_any_batch(runs: dict[str, Path], variant: str, pooling: str | None) -> None:
    encoder = Predictor.load(runs[variant], encoder_task="mood" if variant == "finetune" else None)
    texts = ["the film", *TEXTS, "", "the film was very lovely"]
    together = encoder.encode(texts, pooling)
    assert together.shape == (len(texts), 32) and together.dtype == np.float32
    for place in (0, 5, len(texts) - 2):
        np.testing.assert_allclose(encoder.encode([texts[place]], pooling)[0], together[place], rtol=0, atol=1e-5)
    again = pickle.loads(pickle.dumps(encoder))
    assert encoder.model.fingerprint() == again.model.fingerprint()


def test_the_vector_is_the_mean_over_tokens_and_the_encoder_must_be_clear(runs: dict[str, Path], folder: Path) -> None:
    """Of the last layer, computed by transformers alone."""
    from transformers import AutoModel, AutoTokenizer

    given = AutoTokenizer.from_pretrained(folder / "bert")(TEXTS[0], return_tensors="pt", return_token_type_ids=True)
    states = AutoModel.from_pretrained(folder / "bert").eval()(**given).last_hidden_state[0].detach()
    run = mtl.load(runs["frozen"])
    np.testing.assert_allclose(run.encode(TEXTS[:1])[0], states.mean(dim=0), rtol=0, atol=1e-5)
    np.testing.assert_allclose(run.encode(TEXTS[:1], "max")[0], states.amax(dim=0), rtol=0, atol=1e-5)
    refused(lambda: Predictor.load(runs["finetune"]).encode(["a"]), key="task")
    refused(lambda: Predictor.load(runs["finetune"], encoder_task="mood-elsewhere").encode(["a"]), key="task")
    refused(lambda: Predictor.load(runs["frozen"], encoder_task="mood"), key="task")


@pytest.mark.parametrize(
    ("variant", "task", "tasks"),
    [
        ("finetune", "stars", ["stars"]),
        ("finetune", None, ["mood", "stars", "answer", "opposite"]),
        ("frozen", None, []),
    ],
)
def test_tasks_that_a_body_has_seen(runs: dict[str, Path], variant: str, task: str | None, tasks: list[str]) -> None:
    assert list(Predictor.load(runs[variant], encoder_task=task).model.trained_on) == tasks


@pytest.mark.parametrize("variant", ["finetune", "frozen"])
def test_weights_that_do_not_fit_are_one_line(runs: dict[str, Path], tmp_path: Path, variant: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs[variant], run)
    (path,) = run.glob("seed-1/finetune/mood/*.ckpt")
    content = torch.load(path, weights_only=True)
    for name in list(content["state_dict"])[:2]:
        del content["state_dict"][name]
    torch.save(content, path)
    refused(lambda: mtl.load(run).predict("mood", [["the film"]]), file=path.name)


def test_another_transformer_at_its_place_is_noticed(runs: dict[str, Path], folder: Path, tmp_path: Path) -> None:
    place = folder / "bert"
    place.rename(tmp_path / "moved")
    try:
        write_bert(place, [*TEXTS, "another word"])
        refused(lambda: Predictor.load(runs["frozen"]))
    finally:
        place.rename(tmp_path / "other")
        (tmp_path / "moved").rename(place)


def test_marked_words_are_read(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    settings = ["transformer.keep=true", "seeds=[1]", f"run_dir={run}", "max_length=20"]
    assert main(command(folder, "spans", *settings, "variant=frozen")) == 2
    assert "a fixed transformer has no vectors of marked spans (sense, refers)" in capsys.readouterr().err
    assert main(command(folder, "spans", *settings)) == 0
    (note,) = read_json(run / "summary.json")["notes"]
    assert re.fullmatch(r"\d+ of \d+ distinct inputs are cut to 20 tokens\.", note)
    assert note in (run / "table.md").read_text(encoding="utf-8")
    predictor = mtl.load(run)
    for task in ("sense", "refers"):
        declared = predictor.suite.tasks[task]
        path = declared.path("dev", folder / "spans/data")
        rows = [example.row for example in read_examples(declared, path, targets=False)]
        saved = read_targets(declared, run / f"seed-1/predictions/dev_pred_{task}.tsv")
        assert predictor.predict(task, rows) == list(map(target_kind(declared).to_python, saved.tolist()))


@pytest.mark.parametrize("checkpoint", ["last", "best"])
def test_killed_at_any_moment_it_ends_as_if_undisturbed(folder: Path, tmp_path: Path, checkpoint: str) -> None:
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    settings = ["tasks=[mood,answer,mood-elsewhere]", "seeds=[1]"]
    made = command(folder, "kinds", *settings, "transformer.accumulate=2", f"transformer.checkpoint={checkpoint}")
    assert main([*made, f"run_dir={plain}"]) == 0
    moments = ["finetune/mood/last.ckpt", "finetune/mood/predicted.npz", f"finetune/answer/{WEIGHTS_FILES[checkpoint]}"]
    fork = multiprocessing.get_context("fork")  # has imported transformers already
    for moment in moments:
        point = killed / "seed-1" / moment
        process = fork.Process(target=_run, args=([*made, f"run_dir={killed}"],))
        process.start()
        while process.is_alive():
            if point.exists():
                process.kill()
            process.join(0.001)
        assert process.exitcode == -9, moment
    assert main([*made, f"run_dir={killed}"]) == 0
    assert content(plain) == content(killed)


def _run(arguments: list[str]) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os._exit(main(arguments))


def test_a_tiny_transformer_without_a_path(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, str, Path, str]] = []

    def trained_body(texts: list[str], language: str, place: Path, settings_name: str = "tiny") -> Path:
        asked.append((len(set(texts)), language, place, settings_name))
        return folder / "bert"

    monkeypatch.setattr("mtl.methods.transformer.opening.hook", {"trained_body": trained_body}.get)
    settings = ["transformer.path=null", "tasks=[mood]", "variant=frozen", "seeds=[1]", f"embeddings_dir={tmp_path}"]
    assert main([*command(folder, "kinds", *settings, f"runs_dir={tmp_path}")]) == 0
    (found,) = asked
    assert found[1:] == ("en", tmp_path / "kinds-transformer", "tiny") and found[0] > 48  # the texts of all tasks
    run = tmp_path / "kinds/transformer-tiny-frozen"
    assert mtl.load(run).encode(["the film"]).shape == (1, 32)
    # It has read the training texts of all tasks, also of those that are not in the run.
    assert list(mtl.load(run).model.trained_on) == ["mood", "stars", "answer", "opposite"]
    for weights in (run / "transformer").glob("*.safetensors"):
        weights.unlink()
    refused(lambda: mtl.load(run).encode(["the film"]), file="transformer")


@pytest.mark.parametrize("variant", ["frozen", "finetune"])
def test_a_finished_run_is_not_that_of_another_transformer_at_the_same_path(
    folder: Path, tmp_path: Path, variant: str
) -> None:
    bert = tmp_path / "bert"
    shutil.copytree(folder / "bert", bert)
    settings = [*VARIANTS[variant], f"transformer.path={bert}", "tasks=[mood]", "seeds=[1]", f"run_dir={tmp_path}/run"]
    _, *made = command(folder, "kinds", *settings)
    run_baseline(job(made))
    os.utime(bert / "config.json", (1, 1))
    run_baseline(job(made))
    config = read_json(bert / "config.json")
    (bert / "config.json").write_text(json.dumps({**config, "num_attention_heads": 4}), encoding="utf-8")
    refused(lambda: run_baseline(job(made)), file="run")
