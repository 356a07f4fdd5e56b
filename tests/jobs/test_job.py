"""A run as settings describe it."""

from pathlib import Path

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.base.settings.layers import flatten_config, shipped
from mtl.base.typed import UnknownKey
from mtl.embedders.static import RandomOptions, StaticOptions
from mtl.jobs.job import load_job, parse_settings


def test_words_become_values() -> None:
    words = ["max_length=9", "seeds=[1,2]", "variant=frozen", "trainer.threads=null", "suite=a=b.yaml", "held_out=.2"]
    assert parse_settings(words) == {
        "max_length": 9,
        "seeds": [1, 2],
        "variant": "frozen",
        "trainer.threads": None,
        "suite": "a=b.yaml",
        "held_out": 0.2,
    }


@pytest.mark.parametrize(
    ("word", "complaint"),
    [("max_length", "'max_length' is not key=value"), ("=3", "is not key=value"), ("seeds=[1", "is not YAML")],
)
def test_a_word_that_is_not_a_setting_is_refused(word: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_settings([word])


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
    assert (other.data_dir, other.folder.path) == (Path("d"), Path("r/klej/svm"))
    assert len(other.tasks) == 9
    assert load_job({"suite": "klej", "run_dir": "mine"}).folder.path == Path("mine")
    with raises_input_error(key="tasks"):
        _ = load_job({"suite": "klej", "tasks": ["glue"]}).tasks


@pytest.mark.slow
def test_auto_takes_klej_where_its_data_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_job({}).suite.name == "klej-sample"
    (tmp_path / "data/klej/klej_cbd").mkdir(parents=True)
    assert load_job({}).suite.name == load_job({"suite": "auto"}).suite.name == "klej"
    (tmp_path / "elsewhere/klej_ar").mkdir(parents=True)
    assert load_job({"data_dir": "elsewhere"}).suite.name == "klej"
    with raises_input_error(key="data_dir"):
        load_job({"data_dir": "nowhere"})


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("encoder.hiden_size=3", "unknown key 'encoder.hiden_size'; did you mean encoder.hidden_size?"),
        ("hidden_size=3", "unknown key 'hidden_size'; did you mean encoder.hidden_size or head.hidden_size?"),
        ("lr=1", "unknown key 'lr'; did you mean finetune.learning_rate or pretrain.learning_rate?"),
        ("epochs=3", "unknown key 'epochs'; did you mean finetune.max_epochs?"),
        ("device=cuda", "unknown key 'device'; did you mean trainer.accelerator?"),
        ("preset=latop", "preset=latop: unknown; did you mean laptop?"),
        ("method=smv", "method=smv: unknown; did you mean svm?"),
        ("method=logreg", "method=logreg: unknown; did you mean logistic?"),
        ("method=lr", "method=lr: unknown; did you mean logistic?"),
        ("method=BERT", "method=BERT: unknown; did you mean transformer?"),
        ("method=tfidf", "method=tfidf: unknown; did you mean logistic?"),
        ("method=majority-class", "method=majority-class: unknown; did you mean majority?"),
        ("method=random_forest", "method=random_forest: unknown; did you mean forest?"),
        ("nonsense=1", "unknown key 'nonsense'; known keys: "),
        ("encoder.hidden_size=many", "encoder.hidden_size=many: "),
        ("seeds=0", "seeds=0: must be a number of seeds, 1 to 10000, or a list"),
        ("seeds=[1,1]", "seeds=[1, 1]: must be different whole numbers from 0 to 4294967295, as in [1,2,3]"),
        ("seeds=1.5", "seeds=1.5: must be a list, as in seeds=[1,2,3]"),
        ("embeddings.path=v.vec", "embeddings.path: random embeddings have no path; set embeddings=fasttext or glove or elmo"),
        ("suite=blue", "suite=blue: unknown; did you mean glue?"),
        ("suite=a/b.yaml", "suite=a/b.yaml: no such file"),
        ("embeddings=bert", "embeddings=bert: unknown; known: "),
        ("variant=thawed", "variant=thawed: unknown; known: attention, finetune, frozen"),
        ("architecture=deep", "architecture=deep: unknown; known: jiant, paper"),
        ("preset=fast", "preset=fast: unknown; known: "),
        ("method=bayes", "method=bayes: unknown; did you mean naive_bayes?"),
        ("floor.min_count=1", "floor.min_count: method lstm does not read it; set method=, or drop it"),
    ],
)  # fmt: skip
def test_bad_settings_are_one_line(suite_file: Path, setting: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        load_job({"suite": str(suite_file), **parse_settings([setting])})
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
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
    with pytest.raises(InputError, match=f"^{key}: method svm does not read it; set method=, or drop it$"):
        load_job({"suite": "klej", "method": "svm", key: 8})


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
    ("config", "complaint"),
    [
        ("methods: {bayes: {max_length: 1}}", "config.methods.bayes: unknown method; did you mean naive_bayes?"),
        ("methods: {svm: {encoder: {hidden_size: 1}}}", "config.methods.svm: encoder.hidden_size: the method does not read it"),
        ("methods: {svm: {data_dir: x}}", "config.methods.svm: data_dir: only the command line says where files are"),
        ("methods: {lstm: {variant: frozen}}", "config.methods.lstm: variant: only the command line and sweeps choose it"),
        ("methods: {svm: 3}", "config.methods: must hold settings for methods, as in {svm: "),
        ("methods: {svm: {floor: {mincount: 3}}}", "config.methods.svm: unknown key 'floor.mincount'; did you mean floor.min_count?"),
        *((f"{key}: paper", f"config: {key}: only the command line and sweeps choose it") for key in ("variant", "preset", "method")),
        ("runs_dir: ../x", "config: runs_dir: only the command line says where files are"),
        ("embeddings: {path: x.bin}", "config: embeddings.path: only the command line says where files are"),
    ],
)  # fmt: skip
def test_bad_settings_of_a_suite(suite_file: Path, config: str, complaint: str) -> None:
    with suite_file.open("a", encoding="utf-8") as file:
        file.write(f"config: {{{config}}}\n")
    with pytest.raises(InputError) as caught:
        load_job({"suite": str(suite_file), "method": "svm"})
    assert f"suite liten: {complaint}" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["embeddings", "method", "variant", "architecture", "preset"])
@pytest.mark.parametrize(
    ("content", "complaint"), [("a: [", "not YAML: "), ("- 1\n", "must hold keys and values"), ("a: \xff", "not UTF-8")]
)
def test_a_broken_file_of_the_user_is_named(tmp_path: Path, key: str, content: str, complaint: str) -> None:
    (tmp_path / "own.yaml").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=rf"own\.yaml:(\d+:)? {complaint}"):
        load_job({"suite": "klej-sample", key: str(tmp_path / "own.yaml")})


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
    with raises_input_error():
        batch_size(str(path))


def test_a_file_of_the_user_must_set_every_key(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("name: random\ndim: 3\n", encoding="utf-8")
    with raises_input_error(file="own.yaml", key="embeddings.trainable"):
        load_job({"suite": "klej-sample", "embeddings": str(path)})
    path.write_text("name: random\nglue: 3\n", encoding="utf-8")
    with raises_input_error():
        load_job({"suite": "klej-sample", "embeddings": str(path)})


@pytest.mark.parametrize(
    ("variant", "key", "other"), [("frozen", "finetune.train_encoder", True), ("attention", "head.attention", False)]
)
def test_a_variant_is_what_its_name_says(variant: str, key: str, other: bool) -> None:
    with pytest.raises(InputError, match=rf"{key}={other}: variant {variant} has {key}=.*; choose another"):
        load_job({"suite": "klej-sample", "variant": variant, key: other})


JIANT_PARTS = {
    "boundary_words": True,
    "encoder.join_input": True,
    "head.projection": 512,
    "finetune.token_outputs": "float16",
}


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
    with raises_input_error(key="finetune.train_encoder"):
        load_job({"suite": str(suite_file), "preset": str(contradicting)})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("encoder: {num_layers: 1}", r"own\.yaml: preset: must be its name"),
        ("{preset: x, architecture: jiant}", r"own\.yaml: architecture: only the command line and sweeps choose it"),
        ("{preset: paper, max_length: 3}", r"own\.yaml: paper is the name of a shipped architecture; choose another name"),
        ("{preset: laptop, max_length: 3}", r"own\.yaml: laptop is the name of a shipped preset"),
        ("{preset: x, embeddings: {random: 3}}", r"own\.yaml: embeddings: must hold a section for each kind"),
        ("{preset: x, embeddings: {elmo: {dim: 3}}}", r"own\.yaml: unknown key 'embeddings\.elmo\.dim'; known keys: embeddings\.elmo\.dropout, "),
        ("{preset: x, embeddings: {cove: {dim: 3}}}", r"own\.yaml: unknown key 'embeddings\.cove'; did you mean embeddings\.glove\?"),
        ("{preset: x, embeddings: {random: {missing: random}}}", r"own\.yaml: unknown key 'embeddings\.random\.missing'; known keys: "),
        ("{preset: x, embeddings: {random: {name: fasttext}}}", r"embeddings\.random\.name: only the command line and"),
        ("{preset: x, data_dir: x}", r"own\.yaml: data_dir: only the command line says where files are"),
    ],
)  # fmt: skip
def test_a_bad_preset_is_one_line(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "own.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=complaint) as caught:
        load_job({"suite": "klej-sample", "preset": str(tmp_path / "own.yaml")})
    assert "\n" not in str(caught.value)


def test_a_variant_of_the_user_has_the_name_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("variant: mine\nhead: {attention: true}\n", encoding="utf-8")
    job = load_job({"suite": "klej-sample", "variant": str(path)})
    assert (job.config.variant, job.folder.path) == ("mine", Path("runs/klej-sample/random-mine"))
