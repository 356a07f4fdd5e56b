"""Runs that end early and are continued."""

import random
from pathlib import Path

import pytest
from command_line import content
from processes import start

from mtl.api.cli import main
from mtl.data.sample import write_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings for three tasks of the embedded suite; runs share its data and the cache."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample("klej-sample", folder / "data")
    common = "seeds=[1] tasks=[nkjp-ner,cdsc-r,cbd] encoder.hidden_size=16 head.attention_size=8 pretrain.max_steps=32"
    common += " pretrain.validate_every=4 finetune.max_epochs=3"
    return [
        "suite=klej-sample",
        "baselines=false",
        f"data_dir={folder / 'data'}",
        f"cache_dir={folder / 'cache'}",
        *common.split(),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "moments"),
    [
        (
            "frozen",
            ["pretrain/log", "pretrain/last.ckpt", "finetune/nkjp-ner/best.ckpt", "finetune/cbd", "predictions"],
        ),
        ("finetune", ["pretrain/last.ckpt", "finetune/nkjp-ner/last.ckpt", "finetune/cdsc-r/last.ckpt"]),
        ("attention", ["finetune/cdsc-r/last.ckpt", "finetune/cbd"]),
        ("frozen preset=laptop", ["pretrain/last.ckpt", "finetune/cdsc-r/last.ckpt", "finetune/cbd/done.json"]),
    ],
)
def test_killed_at_any_moment_it_ends_as_if_undisturbed(
    sample: list[str], tmp_path: Path, variant: str, moments: list[str]
) -> None:
    command = ["baseline", *sample, *f"variant={variant}".split()]
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    assert main([*command, f"run_dir={plain}"]) == 0
    chance = random.Random(1)
    for moment in moments:
        # Killed when it reports a point of progress that it had not reached before.
        point = killed / "seed-1" / moment
        seen = point.stat().st_mtime_ns if point.exists() else None
        process = start([*command, f"run_dir={killed}"], tmp_path / "errors")
        while process.is_alive():
            if point.exists() and point.stat().st_mtime_ns != seen:
                process.join(chance.uniform(0, 0.2))
                process.kill()
                process.join()
            process.join(0.002)
    assert main([*command, f"run_dir={killed}"]) == 0
    assert content(plain) == content(killed)
