"""How files are read: separators, quotes, encodings, headers."""

from pathlib import Path

from init_forms import Form, check_forms


def raw(*contents: str | bytes, suffix: str = ".tsv") -> Form:
    """Files as they are: of train, of dev and of test."""

    def write_all(folder: Path) -> None:
        for split, content in zip(("train", "dev", "test"), contents, strict=False):
            path = folder / f"{split}{suffix}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return Form({}, write=write_all)


TABLE = "".join(f"text number {i}\t{i % 2}\n" for i in range(30))
ROWS_OF_TONES = "".join(f"text {i}\t{'pn'[i % 2]}o\n" for i in range(12))
QUOTED_TEXT = raw(f"text\tlabel\n{ROWS_OF_TONES}".replace("text 1\t", '"text 1"\t'))
UNLABELLED = "".join(f"text number {i} with more words than a name has\n" for i in range(12))
COLA = ["gj04\t1\t\ta b\nx\t0\t*\tc d\ngj04\t1\t\te f\n", "x\t1\t\tf g\nx\t0\t\th i\n"]
FORMS = {
    "tabs": raw(TABLE),
    "quotes in texts": raw(TABLE.replace("number", 'the "number"')),
    "doubled quotes": raw(TABLE.replace("text number 3\t", '"text ""number"" 3"\t')),
    "quoted line end": raw(TABLE.replace("text number 3\t", '"text\nnumber 3"\t')),
    **{f"csv with {sign!r}": raw(TABLE.replace("\t", sign), suffix=".csv") for sign in "|;"},
    "csv with semicolons in texts": raw(TABLE.replace("\t", ",").replace("text", "one; two"), suffix=".csv"),
    "csv with semicolons, and in some texts": raw(f"text;label\n{TABLE}".replace("\t", ";").replace("number 1", "a, b; c"), suffix=".csv"),
    "csv of a spreadsheet": raw("sep=;\n" + TABLE.replace("\t", ";"), suffix=".csv"),
    "decimal commas": raw("text;rating\n" + "".join(f"text number {i};{i},5\n" for i in range(30)), suffix=".csv"),
    "csv with tabs": raw(TABLE, suffix=".csv"),
    "csv with two signs": raw("".join(f"text number {i};{'xy'[i % 2]}|z\n" for i in range(30)), suffix=".csv"),
    "UTF-16": raw(TABLE.encode("utf-16")),
    "a code page": raw(TABLE.replace("text", "żółw").encode("cp1250")),
    "texts": raw("one text\nanother text\n", suffix=".txt"),
    "cells in .txt": raw(TABLE, suffix=".txt"),
    "fastText": raw("".join(f"__label__{'ab'[i % 2]} some text {i}\n" for i in range(30)), suffix=".txt"),
    "lists on lines": raw("".join(f'["text number {i}", "{"ab"[i % 2]}"]\n' for i in range(30)), suffix=".json"),
    "CoNLL in .tsv": raw("Anna\tB-PER\nslept\tO\n\n" * 20),
    "a header": raw(f"text\tlabel\n{ROWS_OF_TONES}"),
    "no header, perhaps": raw(ROWS_OF_TONES),
    "no header, and no labels in test": raw(TABLE, TABLE.partition("\n")[2], UNLABELLED),
    "a label in two headers": raw(*[f"text\tpo\n{ROWS_OF_TONES}"] * 2),
    "a word of a header in a cell": raw(*["text\ttopic\tlabel\na b\tlabel\tx\nc d\ty\tz\ne f\ty\tz\ng h\ty\tx\n"] * 2),
    "a long first line": raw(f"a long text of many words in the first row\tx\n{ROWS_OF_TONES}"),
    "row numbers of pandas": raw("\ttext\tlabel\n" + "".join(f"{i}\ttext {i}\t{'pn'[i % 2]}\n" for i in range(12))),
    "four columns of CoLA": raw(*COLA),
    "four columns of CoLA, and a test file with a header": raw(*COLA, "index\tsentence\n0\ta b c\n1\td e f\n2\tg h\n"),
    "long names": raw("votes\tso many words as no name of a column has\n1\ta\n2\tb\n"),
    "columns without names of pandas": raw(f"0\t1\n{ROWS_OF_TONES}"),
    "headers of other lengths": raw(f"text\tlabel\n{ROWS_OF_TONES}", "n\ttext\tlabel\n" + "".join(f"{i}\ttext {i}\tpo\n" for i in range(5))),
    "quotes around some texts": QUOTED_TEXT,
    "quotes around some texts, as answered": QUOTED_TEXT._replace(known={"reading": {"quoted": True}}),
    "a code page, as answered": raw(f"żółw\tlabel\n{ROWS_OF_TONES}".encode("cp1250"))._replace(known={"reading": {"encoding": "cp1250"}}),
    "a code page that is UTF-8": raw(f"żółw\tlabel\n{ROWS_OF_TONES}")._replace(known={"reading": {"encoding": "cp1250"}}),
    "no header in one of two files, as answered": raw(f"text\ttone\n{ROWS_OF_TONES}", ROWS_OF_TONES)._replace(known={"header": ["text", "tone"]}),
}  # fmt: skip


def test_how_files_are_read(tmp_path: Path) -> None:
    check_forms("files", FORMS, tmp_path)
