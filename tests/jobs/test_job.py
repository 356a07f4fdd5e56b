"""A run as settings describe it."""

from pathlib import Path

import pytest
from input_errors import raises_input_error, refused
from small_suite import SUITE

from mtl.base.settings.layers import flatten_config, shipped
from mtl.base.typed import UnknownKey
from mtl.embedders import RandomOptions, StaticOptions
from mtl.jobs.job import load_job, parse_settings


def test_words_become_values() -> None:
    words = ["max_length=9", "seeds=[1,2]", "variant=frozen", "trainer.threads=null", "suite=a=b.yaml", "held_out=.2"]
    expected = {"max_length": 9, "seeds": [1, 2], "variant": "frozen", "trainer.threads": None, "suite": "a=b.yaml"}
    assert parse_settings(words) == {**expected, "held_out": 0.2}


@pytest.mark.parametrize("word", ["a", "=3", " =3", "a=[1", "a=!!bool x", "a=!!timestamp x", "trainer=&a {x: *a}"])
def test_a_word_that_is_not_a_setting_is_refused(word: str) -> None:
    refused(lambda: parse_settings([word]))


@pytest.mark.parametrize("bad", ["embeddings: fasttext", "embeddings: null", "method: {lstm: 1}"])
def test_an_unknown_key_beside_a_bad_section_of_a_suite_file_is_one_line(bad: str, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"{SUITE}config: {{{bad}}}\n", encoding="utf-8")
    refused(lambda: load_job({"suite": str(suite)}))
    for key in ("nope", "embeddings.missing"):
        refused(lambda key=key: load_job({"suite": str(suite), key: 1}))


def test_the_defaults_are_the_paper_s() -> None:
    config = load_job({"suite": "klej"}).config
    assert (config.encoder.hidden_size, config.encoder.num_layers, config.head.hidden_size) == (1024, 2, 512)
    assert (config.pretrain.learning_rate, config.pretrain.final_learning_rate) == (1e-4, 1e-5)
    assert (config.finetune.learning_rate, config.finetune.final_learning_rate) == (1e-4, 1e-5)
    assert isinstance(config.embeddings, RandomOptions)
    assert (config.pretrain.batch_size, config.embeddings.dim, config.pretrain.gradient_clip) == (128, 300, 5)
    assert config.seeds == [1, 2, 3, 4, 5]


def test_a_job_knows_its_tasks_and_folders() -> None:
    job = load_job({"suite": "klej", "tasks": ["dyk", "cbd"]})
    assert [task.id for task in job.tasks] == ["cbd", "dyk"]  # in the suite's order
    assert (job.data_dir, job.folder.path) == (Path("data/klej"), Path("runs/klej/random-frozen"))
    other = load_job({"suite": "klej", "method": "svm", "data_dir": "d", "runs_dir": "r"})
    assert (other.data_dir, other.folder.path, len(other.tasks)) == (Path("d"), Path("r/klej/svm"), 9)
    assert load_job({"suite": "klej", "run_dir": "mine"}).folder.path == Path("mine")
    refused(lambda: load_job({"suite": "klej", "tasks": ["glue"]}).tasks, key="tasks")


@pytest.mark.slow
def test_auto_takes_klej_where_its_data_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_job({}).suite.name == "klej-sample"
    (tmp_path / "data/klej/klej_cbd").mkdir(parents=True)
    assert load_job({}).suite.name == load_job({"suite": "auto"}).suite.name == "klej"
    (tmp_path / "elsewhere/klej_ar").mkdir(parents=True)
    assert load_job({"data_dir": "elsewhere"}).suite.name == "klej"
    refused(lambda: load_job({"data_dir": "nowhere"}), key="data_dir")


@pytest.mark.parametrize(
    "setting",
    [
        "encoder.hiden_size=3", "hidden_size=3", "lr=1", "epochs=3", "device=cuda", "preset=latop", "method=smv", "nonsense=1",
        "encoder.hidden_size=many", "seeds=0", "seeds=[1,1]", "seeds=1.5", "embeddings.path=v.vec", "suite=blue", "suite=a/b.yaml",
        "embeddings=bert", "variant=thawed", "architecture=deep", "preset=fast", "method=bayes", "floor.min_count=1",
        "floor.word_ngrams=[1,1]", "distill.run=x", "transformer.freeze=2", "embeddings.map=true", "embeddings.name=elmo", "pretrain.warmup_steps=5",
        "method=logreg", "method=lr", "method=BERT", "method=tfidf", "method=majority-class", "method=random_forest",
    ],
)  # fmt: skip
def test_bad_settings_are_one_line(suite_file: Path, setting: str) -> None:
    with raises_input_error() as caught:
        load_job({"suite": str(suite_file), **parse_settings([setting])})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("setting", "key"), [("lr", "transformer.learning_rate"), ("epochs", "transformer.epochs")])
def test_the_setting_that_is_meant_is_one_of_the_chosen_method(setting: str, key: str) -> None:
    with raises_input_error(UnknownKey) as caught:
        load_job({"suite": "klej", "method": "transformer", "transformer.path": "x", setting: 1})
    assert key in caught.value.message and "pretrain" not in caught.value.message


@pytest.mark.parametrize(
    "key", ["encoder.hidden_size", "embeddings", "variant", "architecture", "preset", "boundary_words"]
)
def test_a_key_that_only_other_methods_read_is_refused(key: str) -> None:
    refused(lambda: load_job({"suite": "klej", "method": "svm", key: 8}), key=key)


FOR_METHODS = """\
config:
  max_length: 9
  methods:
    svm: {floor: {features: joined, train_rows: {kansla: 20}, grid: {C: null, max_iter: [7]}}}
    lstm: {max_length: 11}
"""


def test_a_suite_has_settings_for_single_methods(suite_file: Path) -> None:
    with suite_file.open("a", encoding="utf-8") as file:
        file.write(FOR_METHODS)
    suite = {"suite": str(suite_file)}
    svm, tree, lstm = (load_job({**suite, "method": name}).config for name in ("svm", "tree", "lstm"))
    assert (svm.floor.features, svm.floor.train_rows, svm.max_length) == ("joined", {"kansla": 20}, 9)
    # A list of values replaces the one in the method's file; null stands for the estimator's default.
    assert svm.floor.grid == {"C": None, "class_weight": [None, "balanced"], "max_iter": [7]}
    assert (tree.floor.features, tree.floor.train_rows, tree.max_length, lstm.max_length) == ("pair", {}, 9, 11)
    given = {**suite, "method": "svm", "floor.features": "pair", "floor.train_rows.betyg": 5}
    floor = load_job(given).config.floor
    assert floor.features == "pair" and floor.train_rows == {"kansla": 20, "betyg": 5}


@pytest.mark.parametrize(
    "config",
    [
        "methods: {bayes: {max_length: 1}}", "methods: {svm: {encoder: {hidden_size: 1}}}", "methods: {svm: {data_dir: x}}",
        "methods: {lstm: {variant: frozen}}", "methods: {svm: 3}", "methods: {svm: {floor: {mincount: 3}}}", "variant: paper",
        "preset: paper", "method: paper", "runs_dir: ../x", "embeddings: {path: x.bin}",
    ],
)  # fmt: skip
def test_bad_settings_of_a_suite(suite_file: Path, config: str) -> None:
    with suite_file.open("a", encoding="utf-8") as file:
        file.write(f"config: {{{config}}}\n")
    refused(lambda: load_job({"suite": str(suite_file), "method": "svm"}))


@pytest.mark.parametrize("key", ["embeddings", "method", "variant", "architecture", "preset"])
@pytest.mark.parametrize("content", [b"a: [", b"- 1", b"a: \xff"])
def test_a_broken_file_of_the_user_is_named(tmp_path: Path, key: str, content: bytes) -> None:
    (tmp_path / "own.yaml").write_bytes(content)
    refused(lambda: load_job({"suite": "klej-sample", key: str(tmp_path / "own.yaml")}), file="own.yaml")


def test_an_embeddings_file_may_set_keys_of_the_training(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text = (shipped("configs") / "embeddings/elmo.yaml").read_text(encoding="utf-8")

    def batch_size(embeddings: str) -> int:
        return load_job({"suite": "klej", "embeddings": embeddings}).config.pretrain.batch_size

    assert batch_size("elmo") == 64
    path.write_text(text.replace("64", "48"), encoding="utf-8")
    assert batch_size(str(path)) == 48
    path.write_text(text[: text.index("config:")] + "config:\n", encoding="utf-8")
    assert batch_size(str(path)) == 128
    path.write_text(text[: text.index("config:")] + "config: 3\n", encoding="utf-8")
    refused(lambda: batch_size(str(path)))


def test_a_file_of_the_user_must_set_every_key(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("name: random\ndim: 3\n", encoding="utf-8")
    refused(load_job, {"suite": "klej-sample", "embeddings": str(path)}, file="own.yaml", key="embeddings.trainable")
    path.write_text("name: random\nglue: 3\n", encoding="utf-8")
    refused(lambda: load_job({"suite": "klej-sample", "embeddings": str(path)}))


@pytest.mark.parametrize(
    ("variant", "key", "other"), [("frozen", "finetune.train_encoder", True), ("attention", "head.attention", False)]
)
def test_a_variant_is_what_its_name_says(variant: str, key: str, other: bool) -> None:
    refused(lambda: load_job({"suite": "klej-sample", "variant": variant, key: other}), key=key)


JIANT_PARTS = {"boundary_words": True, "encoder.join_input": True, "head.projection": 512}
JIANT_PARTS["finetune.token_outputs"] = "float16"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("embeddings", "parts"),
    [
        ("random", {"embeddings.max_words": 30000}),
        ("fasttext", {"embeddings.max_words": 30000, "embeddings.trainable": False, "embeddings.missing": "random"}),
        ("elmo", {}),
    ],
)
def test_the_architectures_differ_in_the_parts_of_jiant_s(embeddings: str, parts: dict[str, object]) -> None:
    def flat(**settings: object) -> dict[str, object]:
        return flatten_config(load_job({"suite": "klej", "embeddings": embeddings, **settings}).config)

    plain, paper, jiant = flat(), flat(architecture="paper", preset="paper"), flat(architecture="jiant")
    assert plain == paper
    changed = {key: value for key, value in jiant.items() if paper[key] != value}
    assert changed == {"architecture": "jiant", **JIANT_PARTS, **parts}
    # Unlike a variant's keys, each key of an architecture can be set.
    single = flat(architecture="jiant", **{"head.projection": None, "boundary_words": False})
    assert (single["head.projection"], single["boundary_words"], single["encoder.join_input"]) == (None, False, True)


def test_a_preset_wins_over_the_architecture_and_the_suite(suite_file: Path) -> None:
    folder = suite_file.parent
    (folder / "deep.yaml").write_text("architecture: deep\nmax_length: 3\nhead: {dropout: 0.3}\n", encoding="utf-8")
    text = (
        "preset: quick\nmax_length: 4\nencoder: {hidden_size: 4, num_layers: 1}\nfinetune: {max_epochs: 4}\n"
        "embeddings: {random: {dim: 5}, fasttext: {trainable: false}}\n"
    )
    (folder / "quick.yaml").write_text(text, encoding="utf-8")
    own = suite_file.read_text(encoding="utf-8") + "config: {encoder: {hidden_size: 7}}\n"
    suite_file.write_text(own, encoding="utf-8")
    chosen = {"architecture": str(folder / "deep.yaml"), "preset": str(folder / "quick.yaml")}
    given = {"suite": str(suite_file), **chosen, "finetune.max_epochs": 5}
    config = load_job(given).config
    assert (config.architecture, config.preset, config.max_length, config.head.dropout) == ("deep", "quick", 4, 0.3)
    assert (config.encoder.hidden_size, config.encoder.num_layers, config.finetune.max_epochs) == (4, 1, 5)
    assert isinstance(config.embeddings, RandomOptions) and config.embeddings.dim == 5
    config = load_job({**given, "embeddings": "fasttext", "embeddings.path": "x.vec"}).config
    assert isinstance(config.embeddings, StaticOptions)
    assert not config.embeddings.trainable and config.embeddings.dim is None
    contradicting = folder / "tuned.yaml"
    contradicting.write_text("preset: tuned\nfinetune: {train_encoder: true}\n", encoding="utf-8")
    refused(lambda: load_job({"suite": str(suite_file), "preset": str(contradicting)}), key="finetune.train_encoder")


@pytest.mark.parametrize(
    "content",
    [
        "encoder: {num_layers: 1}", "{preset: x, architecture: jiant}", "{preset: paper, max_length: 3}", "{preset: laptop}",
        "{preset: x, embeddings: {random: 3}}", "{preset: x, embeddings: {elmo: {dim: 3}}}", "{preset: x, embeddings: {cove: {dim: 3}}}",
        "{preset: x, embeddings: {random: {missing: random}}}", "{preset: x, embeddings: {random: {name: fasttext}}}",
        "{preset: x, data_dir: x}",
    ],
)  # fmt: skip
def test_a_bad_preset_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "own.yaml").write_text(content, encoding="utf-8")
    refused(lambda: load_job({"suite": "klej-sample", "preset": str(tmp_path / "own.yaml")}))


def test_a_variant_of_the_user_has_the_name_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("variant: mine\nhead: {attention: true}\n", encoding="utf-8")
    job = load_job({"suite": "klej-sample", "variant": str(path)})
    assert (job.config.variant, job.folder.path) == ("mine", Path("runs/klej-sample/random-mine"))
