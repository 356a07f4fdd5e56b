"""The documents: the reference, settings, file names, links, commands and examples are those of the code; what the embedded suites can
run is run."""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from processes import CLIENT, CONTEXT, serve, wait_for

from mtl.api.cli import _parse
from mtl.base.errors import InputError
from mtl.base.names import ABSENT
from mtl.base.settings.schema import Config
from mtl.base.typed import declared_keys
from mtl.benchmark_making.make.recipe import load_recipe
from mtl.benchmark_making.sweeps.sweep import load_sweep
from mtl.data.examples import read_examples
from mtl.data.marked_spans import span_texts
from mtl.embedders import EMBEDDERS
from mtl.jobs.job import load_job
from mtl.tasks.suite import load_suite
from mtl.vectors.mteb.benchmark import load_benchmark

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / "README.md", ROOT / "embeddings/README.md"),
    *sorted(path for folder in ("docs", "experiments") for path in (ROOT / folder).rglob("*.md")),
]
SETTINGS = {key for key, _ in declared_keys(Config)} | {"embeddings"}
SETTINGS |= {key for kind in EMBEDDERS.values() for key, _ in declared_keys(kind.options, "embeddings.")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        return import_module("reference")


def test_the_reference_says_what_the_declarations_say(reference: ModuleType) -> None:
    for path, text in reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run tools/reference.py"
        without = [line for line in text.splitlines() if line.startswith("| `") and line.endswith("|  |")]
        assert without == [], f"{path.name}: no meaning"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_settings_that_a_document_names_exist(document: Path) -> None:
    sections = {key.partition(".")[0] for key in SETTINGS if "." in key}
    named = re.findall(rf"(?<![\w/.])(?:{'|'.join(sections)})\.[a-z_]+(?![\w/])", document.read_text(encoding="utf-8"))
    assert sorted(set(named) - SETTINGS) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_and_file_names_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    wrong = [link for link in links if not leads_somewhere(link, document)]
    files = re.findall(
        r"(?<![\w/.}-])(?:mtl|benchmarks|configs|tests|docs|experiments)/[\w/.-]+\.(?:py|yaml|md|svg|png)\b", text
    )
    assert wrong + [name for name in files if not (ROOT / name).exists() and "NAME" not in name] == []


def leads_somewhere(link: str, document: Path) -> bool:
    """Whether the file of a relative link exists, and has the heading that the link names, if any."""
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    if not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def code_blocks(name: str, language: str) -> Iterator[str]:
    """The code blocks of a document in a language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```$", read(name), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_example_of_a_sweep_is_right(tmp_path: Path) -> None:
    example, search = code_blocks("docs/how-to/sweeps.md", "yaml")
    path = tmp_path / "sweep.yaml"
    path.write_text(example, encoding="utf-8")
    names = [run.name for run in load_sweep(str(path), {"suite": "klej-sample"}).runs]
    assert len(names) == 5 and names[-1] == "tiny"
    assert names[0] == "random-frozen,encoder.hidden_size=256"
    assert f"`{names[0]}`" in read("docs/how-to/sweeps.md")
    path.write_text(search, encoding="utf-8")
    assert len(load_sweep(str(path), {"suite": "klej-sample", "tasks": ["cbd", "psc"]}).runs) == 4


@pytest.mark.parametrize(
    ("document", "parts", "expected"),
    [
        ("mteb", lambda path: len(load_benchmark(path).tasks), 2),
        ("own-suite", lambda path: list(load_suite(path).tasks), ["sentiment", "similarity"]),
        ("making-tasks", lambda path: [u.name for u in load_recipe(path).uses], ["keep", "duplicates", "map", "split"]),
    ],
)
def test_first_example_is_right(
    tmp_path: Path, document: str, parts: Callable[[Path], object], expected: object
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(code_blocks(f"docs/how-to/{document}.md", "yaml")), encoding="utf-8")
    assert parts(path) == expected


def test_the_examples_of_spans_are_right(tmp_path: Path) -> None:
    declared = [block for block in code_blocks("docs/how-to/own-suite.md", "yaml") if "spans:" in block]
    (tmp_path / "mine.yaml").write_text(f"name: mine\ntasks:\n{''.join(declared)}", encoding="utf-8")
    task, slots = (load_suite(tmp_path / "mine.yaml").tasks[id] for id in ("coreference", "slots"))
    marked = re.search(r"slots: +# (.*)", "".join(declared))
    assert marked is not None
    (tmp_path / "slots.jsonl").write_text(marked[1], encoding="utf-8")
    (example,) = read_examples(slots, tmp_path / "slots.jsonl")
    assert (example.texts, example.target) == (("A table at 7 pm",), "O O O B-time I-time")
    row = next(code_blocks("docs/how-to/own-suite.md", "json")).replace("\n ", " ")
    (tmp_path / "x.jsonl").write_text(row, encoding="utf-8")
    (example,) = read_examples(task, tmp_path / "x.jsonl")
    assert span_texts(task, example.texts, example.spans) == ("she", "Anna")
    assert repr([list(example.row)]).replace("'", '"') in read("docs/how-to/predict.md")


def test_the_shipped_recipes_are_shown() -> None:
    blocks = list(code_blocks("docs/explanation/klej-constructions.md", "yaml"))
    for path in sorted((ROOT / "configs/recipe").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert text[text.index("sources:") : text.index("tasks:")] in blocks, path.stem


BLOCK = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JOBS = ("baseline", "sweep", "audit")  # the commands that take every setting of a run
MAKE = {"METHOD", "EMB", "VARIANT", "SUITE", "DATA", "RUN", "SEEDS", "ARGS", "PYTHON"}


def test_the_table_of_other_programs_names_says_what_the_program_says() -> None:
    table = read("docs/how-to/settings.md").partition("## From jiant")[2]
    rows = [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("|")][2:]
    listed = {name: right for left, right in rows for name in re.findall(r"`-*([a-z_]+)", left) if name != "allennlp"}
    assert ABSENT.keys() <= listed.keys() and len(listed) > 25
    for name, right in listed.items():
        with pytest.raises(InputError) as raised:
            load_job({"suite": "klej-sample", name: 1})
        said = str(raised.value).partition("; ")[2]
        if "did you mean" in said:
            names = said.removeprefix("did you mean ").rstrip("?").split(" or ")
            assert all(key.rpartition(".")[2] in right for key in names), (name, said)
        else:
            assert said == ABSENT[name]
            assert all(f"{key}=" in right for key in re.findall(r"([a-z_]+)=", said)), (name, said)


TARGETS = ("baseline", "mteb", "test", "test-all", "lint", "docs", "bench")


@dataclass(frozen=True)
class Block:
    """Shell commands of a document; reason: why no test runs them, if the document says so."""

    name: str
    text: str
    reason: str | None

    def calls(self) -> Iterator[list[str]]:
        """The calls of mtl and make, as words."""
        for line in re.sub(r"\\\n\s*", " ", self.text).splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
            words.commenters, words.whitespace_split = "#", True
            part: list[str] = []
            for word in [*words, ";"]:
                if set(word) <= set("|&;<>"):
                    while part and part[0] in ("exec", "do"):
                        part.pop(0)
                    if part[:1] in (["mtl"], ["make"]):
                        yield part
                    part = []
                else:
                    part.append(word)


BLOCKS = [
    Block(f"{path.relative_to(ROOT)}:{number}", match[2], match[1])
    for path in DOCUMENTS
    if not path.is_relative_to(ROOT / "experiments") and path.parent.name != "embeddings"
    for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")), start=1)
]


def check_settings(words: list[str]) -> None:
    given = [word.partition("=")[0] for word in words if "=" in word and not word.startswith("-")]
    free = ("floor.grid.", "floor.train_rows.")
    assert [key for key in given if key not in SETTINGS and not key.startswith(free)] == []


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_the_commands_of_a_document_exist(block: Block) -> None:
    for program, *words in block.calls():
        if program == "make":
            named = [word for word in words if "=" not in word]
            assert set(named) <= set(TARGETS), named
            assert {word.partition("=")[0] for word in words if "=" in word} <= MAKE
            check_settings([part for word in words if word.startswith("ARGS=") for part in word[5:].split()])
        else:
            parsed = _parse(words) if words != ["--version"] else None
            if parsed and words[0] in JOBS:
                check_settings(parsed.settings)


RUN = [block for block in BLOCKS if block.reason is None]


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    """The program `mtl`, which a process runs that has imported what it needs."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # the address of a socket is short
        program, address = Path(folder, "mtl"), f"{folder}/address"
        program.write_text(CLIENT.format(python=shlex.quote(sys.executable), address=address), encoding="utf-8")
        program.chmod(0o755)
        server = CONTEXT.Process(target=serve, args=(address,))
        server.start()
        wait_for(Path(address), server)
        yield program
        server.kill()


@pytest.fixture(scope="module")
def made(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder in which a command of `mtl baseline` alone has run, which several documents have."""

    @cache
    def run(command: str) -> Path:
        folder = tmp_path_factory.mktemp("made")
        subprocess.run([program, *shlex.split(command)[1:]], cwd=folder, check=True)
        return folder

    return run


@pytest.mark.slow
@pytest.mark.xdist_group("documents")  # one worker has them all, and makes each run of `made` once
@pytest.mark.parametrize("block", RUN, ids=lambda block: block.name)
def test_the_commands_of_a_document_run(
    block: Block, program: Path, made: Callable[[str], Path], tmp_path: Path
) -> None:
    """Each block by itself, in a folder that has nothing but the runs of its own first command. `mtl report` needs a run."""
    first = block.text.splitlines()[0].replace("seeds=1", "seeds=[1]")
    if "mtl report" in block.text and "baseline" not in block.text:
        first = "mtl baseline suite=klej-sample method=constant seeds=[1]"
    work = tmp_path / "work"
    shutil.copytree(made(first), work) if re.match(r"mtl baseline \S+ \S+ seeds=\S+$", first) else work.mkdir()
    script = f"set -e\nexport PATH={shlex.quote(str(program.parent))}:$PATH\n{block.text}"
    done = subprocess.run(["bash", "-c", script], cwd=work, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
