from pathlib import Path

import pytest
from mtl.config.load import differences, load_config, read_config, run_dir, save_config, shipped

from mtl.errors import InputError


def test_the_defaults_are_the_paper_s() -> None:
    config, suite = load_config(["suite=klej"])
    assert (config.encoder.hidden_size, config.encoder.num_layers, config.head.hidden_size) == (1024, 2, 512)
    assert (config.pretrain.learning_rate, config.pretrain.final_learning_rate) == (1e-4, 1e-5)
    assert (config.finetune.learning_rate, config.finetune.final_learning_rate) == (1e-4, 1e-5)
    assert (config.pretrain.batch_size, config.embeddings.dim, config.pretrain.gradient_clip) == (128, 300, 5)
    assert config.seeds == [1, 2, 3, 4, 5]
    assert run_dir(config, suite) == Path("runs/klej/random-frozen")


def test_later_layers_win(suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8") + "config: {encoder: {hidden_size: 7}, max_length: 9}\n"
    suite_file.write_text(text, encoding="utf-8")
    config, _ = load_config([f"suite={suite_file}", "max_length=11", "embeddings=fasttext", "embeddings.path=x.vec"])
    assert (config.encoder.hidden_size, config.max_length) == (7, 11)
    assert (config.embeddings.name, config.embeddings.path) == ("fasttext", "x.vec")


def test_auto_takes_klej_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config([])[1].name == "klej-sample"
    (tmp_path / "data/klej/klej_cbd").mkdir(parents=True)
    assert load_config([])[1].name == "klej"
    (tmp_path / "elsewhere/klej_ar").mkdir(parents=True)
    assert load_config(["data_dir=elsewhere"])[1].name == "klej"
    with pytest.raises(InputError, match="data_dir=nowhere: holds none of KLEJ's folders"):
        load_config(["data_dir=nowhere"])


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("encoder.hiden_size=3", "unknown key 'encoder.hiden_size'; did you mean encoder.hidden_size?"),
        ("encoder=3", "unknown key 'encoder'"),
        ("nonsense=3", "unknown key 'nonsense'"),
        ("max_length", "'max_length' is not key=value"),
        ("seeds=[1", "is not YAML"),
        ("encoder.hidden_size=many", "encoder.hidden_size=many"),
        ("encoder.hidden_size=2.5", "encoder.hidden_size=2.5"),
        ("encoder.hidden_size=0", "must be greater than 0"),
        ("seeds_in_parallel=0", "seeds_in_parallel=0: must be greater than 0"),
        ("pretrain.learning_rate=-1", "must be greater than 0"),
        ("pretrain.learning_rate=1e-9", "must lie between 0 and pretrain.learning_rate"),
        ("pretrain.learning_rate=.nan", "must be greater than 0"),
        ("encoder.dropout=1", "must be at least 0 and less than 1"),
        ("held_out=1", "must lie between 0 and 1"),
        ("seeds=[]", "must be different whole numbers"),
        ("seeds=[1,1]", "must be different whole numbers"),
        ("seeds=[-1]", "must be different whole numbers"),
        ("seeds=3", "seeds=3: must be a list, as in seeds=[1,2,3]"),
        ("seeds=true", "must be a list"),
        ("seeds=[99999999999]", "must be different whole numbers from 0 to"),
        ("tasks=cbd", "tasks=cbd: must be a list"),
        (
            "embeddings.path=v.vec",
            "embeddings.path=v.vec: random embeddings have no path; set embeddings=fasttext or elmo",
        ),
        ("embeddings.cache=true", "random embeddings have no cache; set embeddings=elmo"),
        ("embeddings.init_std=0", "embeddings.init_std=0.0: must be greater than 0"),
        ("embeddings.init_std=null", "embeddings.init_std: random embeddings need a value"),
        ("embeddings.precision=int8", "embeddings.precision=int8: must be one of float16, float32"),
        ("suite=glue", "suite=glue: unknown; known: klej, klej-sample"),
        ("suite=a/b.yaml", "suite=a/b.yaml: no such file"),
        ("embeddings=word2vec", "embeddings=word2vec: unknown; known: "),
        ("variant=thawed", "variant=thawed: unknown; known: attention, finetune, frozen"),
        ("submission.header=none", "must be one of task, target"),
        ("trainer.threads=0", "must be at least 1"),
        ("trainer.precision=8", "must be one of"),
        ("pretrain.checkpoint=first", "pretrain.checkpoint=first: must be one of best, last"),
        ("finetune.encoder_dropout=0.2", "finetune.encoder_dropout=0.2"),
        ("cache_dir=${nowhere}", "cache_dir: Interpolation key 'nowhere' not found"),
    ],
)
def test_bad_settings_are_one_line(override: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        load_config([override])
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_saved_and_read_again(tmp_path: Path) -> None:
    config, _ = load_config(["suite=klej", "tasks=[cbd]"])
    save_config(config, tmp_path / "config.yaml")
    assert read_config(tmp_path / "config.yaml") == config
    other, _ = load_config(["suite=klej", "tasks=[cbd]", "max_length=7", "data_dir=elsewhere"])
    assert differences(config, other) == ["max_length: 256 there, 7 here"]
    (tmp_path / "config.yaml").write_text("max_length: many\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a run's configuration"):
        read_config(tmp_path / "config.yaml")
    with pytest.raises(InputError, match="is .* a run folder"):
        read_config(tmp_path / "none" / "config.yaml")


@pytest.mark.parametrize("key", ["embeddings", "method", "variant"])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [("a: [", "not YAML: "), ("- 1\n", "must hold keys and values"), ("a: \xff", "not UTF-8")],
)
def test_a_broken_file_of_one_s_own(tmp_path: Path, key: str, content: str, complaint: str) -> None:
    (tmp_path / "own.yaml").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=rf"own\.yaml:(\d+:)? {complaint}"):
        load_config(["suite=klej-sample", f"{key}={tmp_path / 'own.yaml'}"])


def test_embeddings_of_one_s_own_may_set_the_training(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text = (shipped("configs") / "embeddings/elmo.yaml").read_text(encoding="utf-8")
    assert load_config(["suite=klej", "embeddings=elmo"])[0].pretrain.batch_size == 64
    path.write_text(text.replace("64", "48"), encoding="utf-8")
    assert load_config(["suite=klej", f"embeddings={path}"])[0].pretrain.batch_size == 48
    path.write_text(text[: text.index("config:")] + "config:\n", encoding="utf-8")
    assert load_config(["suite=klej", f"embeddings={path}"])[0].pretrain.batch_size == 128
    path.write_text(text[: text.index("config:")] + "config: 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.yaml: config: "):
        load_config(["suite=klej", f"embeddings={path}"])


@pytest.mark.parametrize(
    ("variant", "key", "other"),
    [("frozen", "finetune.train_encoder", "true"), ("attention", "head.attention", "false")],
)
def test_a_variant_is_what_its_name_says(variant: str, key: str, other: str) -> None:
    complaint = rf"{key}={other.title()}: variant {variant} has {key}=.*; choose another with variant="
    with pytest.raises(InputError, match=complaint):
        load_config(["suite=klej-sample", f"variant={variant}", f"{key}={other}"])


def test_the_dropout_of_an_encoder_that_is_trained_is_no_ablation() -> None:
    assert load_config(["suite=klej", "finetune.encoder_dropout=true", "variant=attention"])[0].finetune.encoder_dropout
    with pytest.raises(InputError, match="finetune.encoder_dropout=True: is for a frozen encoder"):
        load_config(["suite=klej", "finetune.encoder_dropout=true", "variant=finetune"])


def test_a_run_from_before_there_were_ablations_is_read(tmp_path: Path) -> None:
    config, _ = load_config(["suite=klej"])
    path = tmp_path / "config.yaml"
    save_config(config, path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(x for x in lines if "checkpoint:" not in x and "encoder_dropout:" not in x), "utf-8")
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(lines) - 2
    assert differences(read_config(path), config) == []
