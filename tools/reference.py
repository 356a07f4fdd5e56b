"""Write the pages of docs/reference, each from the one place that declares what it lists.

    python tools/reference.py

Commands are the parsers'. Settings have their default and their meaning in configs/baseline.yaml and configs/embeddings, and their type and
bounds in the dataclasses. All other keys are fields of dataclasses, with their meaning behind them or under Args of the docstring.
"""

import argparse
import inspect
import os.path
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from msgspec import Meta

from mtl.api.cli import add_commands
from mtl.base.settings.layers import flatten
from mtl.base.settings.schema import Config, Role
from mtl.base.typed import declared_keys, field_types, in_words, notes_of
from mtl.benchmark_making.make.recipe import STEPS
from mtl.embedders import EMBEDDERS
from mtl.embedders.recipes import load_recipe
from mtl.methods import METHODS
from mtl.tasks.metrics import METRICS
from mtl.tasks.sources import HubSource, Source
from mtl.tasks.suite import Published, Submission, Suite, load_suite
from mtl.tasks.task import Task
from mtl.vectors.elmo.training import ELMoTraining
from mtl.vectors.encoders.average import AverageSettings
from mtl.vectors.encoders.encoder import PretrainedSettings
from mtl.vectors.encoders.run import RunSettings
from mtl.vectors.encoders.sentence_transformer import SentenceTransformerSettings
from mtl.vectors.mteb.benchmark import MtebSettings
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.wing import WING as VECTORS
from mtl.vectors.words.fasttext import FastTextTraining
from mtl.vectors.words.word2vec import Word2VecTraining

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference"
KEYS = ROOT / "mtl/api/keys.pyi"
PLAIN = {
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
    str: "text",
    list: "list",
    dict: "keys and values",
    Any: "text",
}
KEY_TYPES = {
    "suite": "Any",
    "seeds": "int | Sequence[int]",
}  # of `mtl.run`, where they differ from those of the configuration
UNBOUNDED = 2**20  # from here on, the upper end of a range only keeps absurd values out: the tables do not name it
DOWNLOADS = (
    "| task | source | bytes | checksum | copy on the Hub | licence | tried |",
    "|---|---|--:|---|---|---|---|",
)
WRITTEN = "<!-- tools/reference.py writes this page. -->\n\n"


def pages() -> dict[Path, str]:
    """What the pages of the reference should be, by their paths."""
    contents = {
        "command-line": command_line(),
        "settings": settings(),
        "other-settings": other_settings(),
        "suite-file": suite_file(),
        "metrics": metrics(),
        "recipe-steps": recipe_steps(),
        "downloads": downloads(),
    }
    written = {PAGES / f"{name}.md": WRITTEN + "\n".join(lines).rstrip() + "\n" for name, lines in contents.items()}
    return written | {KEYS: "\n".join(keys()) + "\n"}


def command_line() -> Iterator[str]:
    yield from (
        "# Command line",
        "",
        "Every command ends with exit status 0 on success, 1 if a training diverged or a seed's process failed, 2 for bad input (one line",
        "on standard error names the file, the line or key, and what to do), and 130 after Ctrl-C or SIGTERM: the same command continues.",
        "`mtl --version` prints the version and the extras that are installed. `python -m mtl` is `mtl`.",
    )
    parser = argparse.ArgumentParser("mtl")
    add_commands(parser.add_subparsers())
    yield from commands_of(parser, "mtl")


def commands_of(parser: argparse.ArgumentParser, name: str, level: int = 2) -> Iterator[str]:
    """The commands below a parser, with their arguments, in the order in which they were added."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for word, command in action.choices.items():
                yield from (
                    "",
                    f"{'#' * level} {name} {word}",
                    "",
                    sentence(helps.get(word) or command.description or ""),
                )
                if own := [
                    item
                    for item in command._actions
                    if item.dest != "help" and not isinstance(item, argparse._SubParsersAction)
                ]:
                    yield from (
                        "",
                        "```text",
                        usage(f"{name} {word}", own),
                        "```",
                        "",
                        "| argument | meaning |",
                        "|---|---|",
                    )
                    yield from (table_row(arguments(item), meaning_of(item)) for item in own)
                yield from commands_of(command, f"{name} {word}", level + 1)


def argument(action: argparse.Action) -> str:
    """An option with its value, or the name of a positional argument."""
    shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return shown
    return action.option_strings[-1] + ("" if action.nargs == 0 else f" {shown}")


def arguments(action: argparse.Action) -> str:
    """An argument in a code span; its alternatives in one each."""
    return code_list(argument(action).split(" | "))


def usage(command: str, actions: list[argparse.Action]) -> str:
    """The command with its arguments; those in brackets may be left out."""
    words = [command]
    for action in sorted(actions, key=lambda action: not action.option_strings):
        word = argument(action).replace(" ", "\0")
        more = " …" if action.nargs in ("*", "+") else ""
        needed = action.required if action.option_strings else action.nargs not in ("*", "?")
        words.append(f"{word}{more}" if needed else f"[{word}{more}]")
    lines = textwrap.wrap(
        " ".join(words), 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def meaning_of(action: argparse.Action) -> str:
    """The help of an argument. The name of a document becomes a link."""
    text = action.help or f"one of {', '.join(map(str, action.choices or ()))}"
    return re.sub(r"\bdocs/([\w/-]+\.md)", link, text.replace("%%", "%"))


def link(name: re.Match[str]) -> str:
    """The heading of a document, with a link from a page of the reference."""
    heading = (ROOT / name[0]).read_text(encoding="utf-8").partition("# ")[2].splitlines()[0]
    return f"[{heading}]({os.path.relpath(ROOT / name[0], PAGES)})"


def settings() -> Iterator[str]:
    given = flatten(yaml.safe_load((ROOT / "configs/baseline.yaml").read_text(encoding="utf-8")))
    comments = meanings_in(ROOT / "configs/baseline.yaml")
    yield from (
        "# Settings of a run",
        "",
        "`key=value` on the command line, a keyword argument in Python, or a line of a YAML file:",
        "[how settings are given, and which one wins](../how-to/settings.md). A setting that no run of the method reads is an error.",
    )
    sections: dict[str, list[tuple[str, Any]]] = {}
    for key, hint in declared_keys(Config):
        sections.setdefault(key.rpartition(".")[0], []).append((key, hint))
    del sections["embeddings"]
    for section, keys in sections.items():
        readers = {key: readers_of(key) for key, _ in keys}
        alike = len(set(readers.values())) == 1
        yield from ("", f"## {section or 'The run'}", "")
        if section:
            yield from (sentence(comments[section]), "")
        if alike:
            yield from (f"Read by: {readers[keys[0][0]]}.", "")
        yield from (
            f"| key | default | values |{'' if alike else ' read by |'} meaning |",
            f"|---|---|---|{'' if alike else '---|'}---|",
        )
        for key, hint in keys:
            row = [f"`{key}`", code(given.get(key, {})), values_in_words(hint)]
            yield table_row(*row, *([] if alike else [readers[key]]), comments[key])
    yield from (
        "",
        "## embeddings",
        "",
        f"`embeddings` is `random` (default), {code_list(name for name in EMBEDDERS if name != 'random')}, or the path of a file as those in",
        f"`configs/embeddings/`. `embeddings.KEY` sets a key of it. Read by: {readers_of('embeddings.dropout')}.",
    )
    for name, embedder in EMBEDDERS.items():
        path = ROOT / f"configs/embeddings/{name}.yaml"
        if not path.exists():
            raise SystemExit(f"{path}: no such file; it has the defaults of embeddings={name}, and what its keys mean")
        content, comments = yaml.safe_load(path.read_text(encoding="utf-8")), meanings_in(path)
        if missing := [key for key in field_types(embedder.options) if key not in content or key not in comments]:
            raise SystemExit(f"{path}: has no line for {missing[0]}")
        yield from ("", f"### {embedder.title}", "", "| key | default | values | meaning |", "|---|---|---|---|")
        for key, hint in field_types(embedder.options).items():
            if key != "name":
                yield table_row(f"`embeddings.{key}`", code(content[key]), values_in_words(hint), comments[key])


def keys() -> Iterator[str]:
    """The stub file from which editors know the keyword arguments of `mtl.run`: a TypedDict for each section, with a docstring below each key."""
    yield from (
        '"""The keyword arguments of `mtl.run`. tools/reference.py writes this file."""',
        "",
        "from collections.abc import Mapping, Sequence",
        "from os import PathLike",
        "from typing import Any, Literal, TypedDict",
    )
    given = flatten(yaml.safe_load((ROOT / "configs/baseline.yaml").read_text(encoding="utf-8")))
    comments = meanings_in(ROOT / "configs/baseline.yaml")
    top: dict[str, tuple[str, str]] = {}
    for name, hint in field_types(Config).items():
        if name == "imported":  # `mtl.import_predictions` sets its keys
            continue
        if name == "embeddings":
            options = {key: hint for kind in EMBEDDERS.values() for key, hint in field_types(kind.options).items()}
            meanings = {key: text for kind in EMBEDDERS for key, text in meanings_of_embeddings(kind).items()}
            fields_of = {key: (type_text(hint), meanings[key]) for key, hint in options.items() if key != "name"}
            top[name] = ("str | PathLike[str] | Embeddings", "random, a name in configs/embeddings, or a path")
        elif is_dataclass(hint):
            declared = {key: (f"{name}.{key}", hint) for key, hint in field_types(hint).items()}
            fields_of = {
                key: (type_text(hint), f"{comments[path]} (default: {code(given.get(path)).strip('`')})")
                for key, (path, hint) in declared.items()
            }
            top[name] = (class_name(name), comments[name])
        else:
            top[name] = (KEY_TYPES.get(name) or type_text(hint), comments[name])
            continue
        yield from typed_dict(class_name(name), fields_of)
    yield from typed_dict("Settings", top)


def typed_dict(name: str, keys: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """A class of `keys`, with the type and the meaning of each key."""
    yield from ("", f"class {name}(TypedDict, total=False):")
    for key, (text, doc) in keys.items():
        for written, meant in (("null", "None"), ("true", "True"), ("false", "False")):
            doc = re.sub(rf"\b{written}\b", meant, doc)
        yield from (f"    {key}: {text}", f'    """{textwrap.shorten(doc, 130, placeholder=" …")}"""')


def class_name(section: str) -> str:
    return section.title().replace("_", "")


def type_text(hint: Any) -> str:
    """A type as a stub file has it. Paths and objects of Lightning may stand for texts, and any sequence for a list."""
    notes = notes_of(hint)
    if Role.CODE in notes:
        return "Any"
    if get_origin(hint) is Annotated:
        text = type_text(get_args(hint)[0])
        return text.replace("str", "str | PathLike[str]") if set(notes) & {*Role} - {Role.INDIFFERENT} else text
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(type_text(part) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(hint)))}]".replace("'", '"')
    if get_origin(hint) in (list, dict):
        kind = "Sequence" if get_origin(hint) is list else "Mapping"
        return f"{kind}[{', '.join(map(type_text, get_args(hint)))}]"
    return "None" if hint is NoneType else "Any" if hint is Any else hint.__name__


def meanings_of_embeddings(kind: str) -> dict[str, str]:
    """What the keys of a kind of embeddings mean, from the file with its defaults."""
    return meanings_in(ROOT / f"configs/embeddings/{kind}.yaml")


def readers_of(key: str) -> str:
    """The methods that read a key, in words."""
    names = [name for name, method in METHODS.items() if method.reads_key(key)]
    return "all methods" if len(names) in (0, len(METHODS)) else ", ".join(names)


def meanings_in(path: Path) -> dict[str, str]:
    """The comment of each key of a YAML file with at most two levels: behind its value, and on the lines below it that hold nothing else."""
    found: dict[str, str] = {}
    key = section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"( *)(\w+):(?: +(?:\"[^\"]*\"|[^#\s\"](?:[^#]|(?<! )#)*))?(?: *# (.*))?", line):
            section = section if match[1] else match[2]
            key = f"{section}.{match[2]}" if match[1] else match[2]
            found[key] = match[3] or ""
        elif key and (match := re.fullmatch(r" +# (.*)", line)):
            found[key] += f" {match[1]}"
        else:
            key = ""
    return found


def other_settings() -> Iterator[str]:
    yield from ("# Settings of other commands", "", "They are given as `key=value` too.")
    parts: dict[str, list[tuple[str, type]]] = {
        "mtl embeddings train": [
            ("fasttext", FastTextTraining),
            ("word2vec", Word2VecTraining),
            ("elmo", ELMoTraining),
        ],
        "mtl pretrain": [("transformer", PretrainingSettings)],
        "mtl encode": [
            ("RUN", RunSettings),
            ("average", AverageSettings),
            ("transformer", PretrainedSettings),
            ("sentence_transformer", SentenceTransformerSettings),
        ],
        "mtl mteb": [("benchmark", MtebSettings)],
    }
    notes = {
        "mtl embeddings train": "Also `out=`, `texts=[FILE,…]`, `suite=`, `data_dir=`, `language=` and, for ELMo, `accelerator=`.",
        "mtl pretrain": "Also `out=`, `texts=[FILE,…]`, `vocabulary_texts=[FILE,…]` (or all texts), `suite=`, `data_dir=`, `language=`, `config=` and"
        " `accelerator=`. Where there is no default, the file in `configs/pretrain/` has the value.",
        "mtl encode": "The first word after the command is a run's folder, `average`, `transformer` or `sentence_transformer`."
        " `average` also takes `embeddings.KEY`.",
        "mtl mteb": "Also the encoder's, as for `mtl encode`.",
    }
    for command, kinds in parts.items():
        yield from ("", f"## {command}", "", notes[command])
        for name, kind in kinds:
            yield from ("", f"### {command} {name}", "", *key_table(kind, with_values=True, without=["model"]))


def suite_file() -> Iterator[str]:
    yield from (
        "# Keys of a suite file",
        "",
        "[A benchmark of your own](../how-to/own-suite.md) has an example; `configs/suite/` has the suites that come with mtl.",
    )
    parts: list[tuple[str, type, tuple[str, ...]]] = [
        ("Suite", Suite, ()),
        ("A task, under `tasks`", Task, ("id",)),
        ("A published row, under `published`", Published, ()),
        ("`source`", Source, ()),
        ("`hub`", HubSource, ()),
        ("`submission`", Submission, ()),
    ]
    for title, kind, without in parts:
        yield from ("", f"## {title}", "", *key_table(kind, with_values=False, without=without))


def recipe_steps() -> Iterator[str]:
    yield from (
        "# Steps of a recipe",
        "",
        "[Making tasks](../how-to/making-tasks.md) shows a recipe. Every step also has `table`, the table that it takes (default: that of the step",
        "before), and `into_table`, the name of the table that it returns. **Without `into_table`, a step replaces the table that it takes**, even a",
        "source. `stack` and `pairs` have `tables` instead of `table`, and need `into_table`. Messages count steps from 1.",
    )
    for name, step in STEPS.items():
        yield from ("", f"## {name}", "", first_paragraphs(step))
        if fields(step):
            yield from ("", *key_table(step, with_values=True))


def downloads() -> Iterator[str]:
    yield from (
        "# Downloads",
        "",
        "What `mtl data` and `mtl embeddings fetch` download. mtl refuses a file whose size or checksum differs from the one here. *Not known*:",
        "none of the documents behind these tables states it; mtl then logs that the file is not verified. The commit in the addresses of",
        "Superlim's files pins them too.",
        "",
        "*Tried*: mtl's tests download the file from a server on the same machine, which has a generated file of this size (at most 16 MiB) at",
        "the same path. The server redirects, cuts the connection, and has no file, a web page, or one of another size or checksum. No test asks",
        "the real servers: an address may be out of date. The zips of QQP, MNLI and GloVe were also tried at full size, by hand.",
        "",
        "Copies on the Hugging Face Hub have not been tried. Every copy that a suite names here is pinned to a commit, and mtl compares its files",
        "with the sizes and checksums that the Hub lists. KLEJ's publisher has copies there (allegro/klej-cdsc-e and so on), which are no sources,",
        "because no document names their revisions; to use one, add `hub: {dataset: …, revision: …}` to a copy of the suite file.",
    )
    for path in sorted((ROOT / "configs/suite").glob("*.yaml")):
        if (suite := load_suite(path)).generated:
            continue
        yield from ("", f"## {suite.title}", "", *DOWNLOADS)
        for task in suite.tasks.values():
            about = (" at ".join(filter(None, [task.hub.dataset, task.hub.revision])) if task.hub else "", task.license)
            if task.withdrawn:
                yield download_row(task.id, "withdrawn by its publisher", None, None, *about)
            elif task.source is None:
                yield download_row(task.id, "none in this form", None, None, *about)
            elif task.source.single_files:
                for split in task.files:
                    if (name := task.file(split)) and (split in task.rows or split in task.checksums):
                        address = task.source.address(task.folder, name)
                        yield download_row(task.id, address, None, task.checksums.get(split), *about)
            else:
                yield download_row(task.id, task.source.url, task.source.size, task.source.sha256, *about)
        if (template := suite.submission.template_source) is not None:
            yield download_row("the leaderboard's empty entry", template.url, template.size, template.sha256)
    yield from ("", "## PL-MTEB", "", sentence(VECTORS.data_notes["pl-mteb"]), "", "## Embeddings", "", *DOWNLOADS)
    for path in sorted((ROOT / "embeddings").glob("*.yaml")):
        recipe = load_recipe(path.stem)
        if recipe.source is not None:
            place = recipe.url or f"to be put there by hand, from {recipe.source}"
            yield download_row(recipe.name, place, recipe.size, recipe.sha256, "", recipe.license)


def download_row(
    name: str, place: str, size: int | None, checksum: str | None, copy: str = "", license: str | None = None
) -> str:
    """What is known of a download, as a row of a table. A `place` that is no address is shown as it is."""
    is_address = place.startswith("https://")
    link = f"[{place.rpartition('/')[2]}]({place})" if is_address else place
    kind, _, digits = (checksum or "").rpartition(":")
    shown = f"{'git blob' if kind == 'git' else 'SHA-256'} `{digits[:12]}…`" if checksum else "not known"
    known = [str(size or "not known"), shown] if is_address else ["", ""]
    return table_row(name, link, *known, copy, license or "not known", "yes" if is_address else "no")


def metrics() -> Iterator[str]:
    yield from (
        "# Metrics",
        "",
        "The value of `metric` in a suite file; `accuracy+f1` is the mean of two. Files that programs read have scores × 100; a suite",
        "with `scale: 1` shows them as they are. The highest score is 100. A metric is computed once over all examples of a split.",
        "",
        "| metric | in tables | kinds of target | lowest | definition |",
        "|---|---|---|--:|---|",
    )
    for name, metric in METRICS.items():
        lowest = "−c / (1 − c)" if callable(metric.lowest) else f"{metric.lowest:g}".replace("-", "−")
        yield table_row(f"`{name}`", metric.title, ", ".join(metric.kinds), lowest, first_paragraphs(metric.formula))


def key_table(kind: type, with_values: bool, without: Collection[str] = ()) -> Iterator[str]:
    """The fields of a dataclass as the rows of a table."""
    meanings = arguments_of(kind)
    yield f"| key | default |{' values |' if with_values else ''} meaning |"
    yield f"|---|---|{'---|' if with_values else ''}---|"
    for item in fields(kind):
        if item.name not in without:
            values = [values_in_words(field_types(kind)[item.name])] if with_values else []
            yield table_row(f"`{item.name}`", default_of(item), *values, meanings.get(item.name, "").rstrip("."))


def default_of(item: Any) -> str:
    if item.default_factory is not MISSING:
        value = item.default_factory()
    elif item.default is MISSING:
        return "–"
    else:
        value = item.default
    return "" if value in ("", {}, []) or is_dataclass(value) else code(value)


def arguments_of(kind: type) -> dict[str, str]:
    """What a class and its bases say of its fields: in comments behind or directly above them, or in the docstring under Args or Attributes."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        above = list[str]()  # the comment lines above a field
        for line in inspect.getsource(each).splitlines() if is_dataclass(each) else ():
            if comment := re.fullmatch(r"    # (.*)", line):
                above.append(comment[1])
                continue
            if match := re.fullmatch(r"    (\w+): .*?(?:  # (.*))?", line):
                found[match[1]] = match[2] or " ".join(above)
            above.clear()
        text = inspect.cleandoc(vars(each).get("__doc__") or "")
        parts = re.split(r"^(?:Args|Attributes):\n", text, maxsplit=1, flags=re.MULTILINE)
        for entry in re.split(r"\n(?=    \S)", parts[1]) if len(parts) == 2 else ():
            names, _, meaning = entry.strip().partition(": ")
            found |= {name.strip(): " ".join(meaning.split()) for name in names.split(",")}
    return {name: re.sub(r"\bNone\b", "null", meaning) for name, meaning in found.items()}


def first_paragraphs(function: Any) -> str:
    """What the docstring of a function says before Args, Raises and examples, in one line."""
    text = re.split(
        r"^(?:Args|Returns|Raises|Examples?):|^>>> |Raises InputError",
        inspect.getdoc(function) or "",
        flags=re.MULTILINE,
    )[0]
    return " ".join(text.split())


def values_in_words(hint: Any) -> str:
    """The values that a field of this type takes, as a cell of a table."""
    notes, or_null = list[Any](), False
    while (kind := get_origin(hint)) in (Annotated, Union, UnionType):
        notes += notes_of(hint)
        or_null |= kind is not Annotated
        hint = next(part for part in get_args(hint) if part is not NoneType)
    bounds = next((note for note in notes if isinstance(note, Meta) and not note.examples), None)
    if kind is Literal:
        words = code_list(get_args(hint))
    elif bounds is not None:
        bounds = Meta(ge=bounds.ge, gt=bounds.gt) if (bounds.le or bounds.lt or 0) >= UNBOUNDED else bounds
        words = f"{'whole number, ' if hint is int else ''}{in_words(bounds)}"
    else:
        words = PLAIN.get(kind or hint, "keys and values")
    return f"{words}, or null" if or_null else words


def code(value: Any) -> str:
    """A value as YAML in a code span."""
    if isinstance(value, float):
        shown = f"{value:.1e}".replace("e-0", "e-") if value and abs(value) < 1e-3 else repr(value)
    elif isinstance(value, str) and value != value.strip():
        shown = f'"{value}"'
    else:
        shown = yaml.safe_dump(value, default_flow_style=True, width=1000).splitlines()[0]
    return f"`{shown}`"


def code_list(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def cell(text: str) -> str:
    """A text as a table takes it: no end of a cell, and no tag outside code."""
    parts = re.split(r"(`[^`]*`)", text.replace("|", "\\|"))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*") for part in parts)


def table_row(*cells: str) -> str:
    return f"| {' | '.join(map(cell, cells))} |"


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
