"""Which prediction each row of the data gets. Ids, row numbers or the order of the lines say it; values of the data beside them may correct it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.submissions.column_order import column_order
from mtl.submissions.data_rows import DataRows
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import excerpt


def prediction_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order:
    """The position of each row's prediction. Ids stand in the first of `id_columns` that the data has, else in `id`. Raises InputError for others."""
    columns = [*id_columns, ID]
    order = _stated_order(rows, lines, columns)
    # Values of the data may correct that order, or say one where the file may have more rows than the data.
    if order is not None or lines.may_have_more_rows:
        order = column_order(rows, lines, order)
    if order is None:
        rule = "; without ids, each row has one, in their order" if lines.value_form == "values" else ""
        raise lines.error(f"{len(lines.values)} predictions for {rows.description}{rule}", len(lines.values) - 1)
    if lines.marks.ignored:
        message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
        logger.warning(message, lines.name, rows.file, listed(lines.marks.ignored, 5))
    if lines.marks.first_number is not None:
        _check_numbers(rows, lines, order, columns)
    return order


def _stated_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order | None:
    """The order that ids or numbers say, else that of the lines; None if the lines are too few or too many for the rows, or for their whole split."""
    if lines.marks.has_ids:
        return _id_order(rows, lines, rows.numbers_by_id(_id_column(rows, lines, id_columns)))
    # The lines may be in the order of the rows, or of the whole split that these are a sample of.
    if rows.sample is not None and len(lines.values) == rows.sample.whole:
        line_order: Order = rows.sample.positions
    elif len(lines.values) == len(rows):
        line_order = range(len(rows))
    else:
        return None
    first_number = lines.marks.first_number
    if first_number is None:
        return line_order
    row_by_number = {str(first_number + position): row for row, position in enumerate(line_order)}
    return _id_order(rows, lines, row_by_number)


def _id_column(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> str:
    """The first of these columns that the data has. Raises InputError if it has none."""
    for column in id_columns:
        if column in rows.columns:
            return column
    if lines.marks.number_column is not None:
        # By the name of their column, the ids were taken for row numbers, which they are not: the first stands for all.
        raise _wrong_number_error(rows, lines, position=0)
    problem = f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys(id_columns))}"
    remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
    raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)


def _id_order(rows: DataRows, lines: PredictionLines, row_by_id: Mapping[str, int]) -> Order:
    """The order in which each row gets the prediction with its id, or its number. Raises InputError for a missing, a repeated and an unknown id."""
    position_by_row: dict[int, int] = {}
    for position, id in enumerate(lines.marks.ids or ()):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {excerpt(id)} must be a text or a whole number", position)
        row = row_by_id.get(text(id))
        if row is None and rows.sample is not None:
            continue  # of a row of the split that is not in the sample
        if row is None and lines.marks.number_column is not None:
            raise _wrong_number_error(rows, lines, position)
        if row is None:
            raise lines.error(f"id {excerpt(id)} is not among {rows.description}; is this another file's?", position)
        if row in position_by_row:
            earlier, line_numbers = position_by_row[row], lines.line_numbers
            where = f"in row {earlier + 1}" if line_numbers is None else f"on line {line_numbers[earlier]}"
            raise lines.error(f"id {excerpt(id)} stands {where} already", position)
        position_by_row[row] = position
    if absent := [id for id, row in row_by_id.items() if row not in position_by_row]:
        raise lines.error(f"{len(absent)} of {rows.description} have no prediction; the first has the id {absent[0]!r}")
    return [position_by_row[row] for row in range(len(row_by_id))]


def _wrong_number_error(rows: DataRows, lines: PredictionLines, position: int) -> InputError:
    """The error for a column that by its name numbers the rows, and has another number at the position than theirs, or one of them twice."""
    numbers = lines.marks.ids or ()
    if repeated_numbers := [number for number, count in Counter(numbers).items() if count > 1]:
        problem = f"repeats {repeated_numbers[0] or 'an empty text'}"
    else:
        number = excerpt(numbers[position])
        problem = f"has {number}, which neither numbers {rows.description} from 0 or 1 nor is an id of theirs"
    remedy = "if the predictions are in the order of the data, leave it out"
    return lines.error(f"column {lines.marks.number_column!r} {problem}; {remedy}", position)


def _check_numbers(rows: DataRows, lines: PredictionLines, order: Order, id_columns: Sequence[str]) -> None:
    """Raise InputError if the numbers beside the predictions may be ids that put them to other rows than this order. They may be if a column of the
    data file has the same name as the column of the numbers, or if it has ids that are all among the numbers."""
    for column in rows.columns:
        has_same_name = column.lower() == str(lines.marks.number_column).lower()
        if has_same_name or column in id_columns:
            _check_column(rows, lines, order, column, has_same_name)


def _check_column(rows: DataRows, lines: PredictionLines, order: Order, column: str, has_same_name: bool) -> None:
    """Raise InputError if the numbers may be the values of this column, and put a row to another prediction."""
    numbers = lines.marks.ids or ()
    records = rows.records([], [column])
    values = [str(record.values[0]) for record in records]
    if not (has_same_name or set(values) <= set(numbers)):
        return
    for record, value, position in zip(records, values, order, strict=True):
        if value != numbers[position]:
            in_lines = f"column {lines.marks.number_column!r} has {numbers[position]}"
            in_data = f"column {column!r} of {rows.file} has {excerpt(record.values[0])} on line {record.line}"
            declaration = f"name it in the suite file (submission: {{ids: [{column}]}})"
            remedy = declaration if has_same_name else f"call it {column}"
            problem = f"{in_lines}, and {in_data}; if it has ids, {remedy}"
            raise lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)
