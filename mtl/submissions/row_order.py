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


def prediction_order(rows: DataRows, lines: PredictionLines, ids: Sequence[str]) -> Order:
    """The position of each row's prediction. Ids stand in the first column of `ids` that the data has, else in `id`. Raises InputError for others."""
    id_columns = [*ids, ID]
    order = _stated_order(rows, lines, id_columns)
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
        _check_numbers(rows, lines, order, id_columns)
    return order


def _stated_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order | None:
    """The order that ids or numbers say, else that of the lines; None if the lines are too few or too many for the rows, or for their whole split."""
    if lines.marks.has_ids:
        return _id_order(rows, lines, rows.numbers_by_id(_id_column(rows, lines, id_columns)))
    if rows.sample is not None and len(lines.values) == rows.sample.whole:
        line_order: Order = rows.sample.positions
    elif len(lines.values) == len(rows):
        line_order = range(len(rows))
    else:
        return None
    first_number = lines.marks.first_number
    if first_number is None:
        return line_order
    # A position is here that of a row in the file, or in the whole split of a sample; numbers count the same rows.
    row_of_number = {str(first_number + position): row for row, position in enumerate(line_order)}
    return _id_order(rows, lines, row_of_number)


def _id_column(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> str:
    """The first of these columns that the data has. Raises InputError if it has none."""
    for column in id_columns:
        if column in rows.columns:
            return column
    if lines.marks.number_column is not None:
        # By the name of their column, the ids were taken for row numbers, which they are not: the first stands for all.
        raise _row_number_error(rows, lines, 0)
    problem = f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys(id_columns))}"
    remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
    raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)


def _id_order(rows: DataRows, lines: PredictionLines, row_of_id: Mapping[str, int]) -> Order:
    """The order in which each row gets the prediction with its id, or its number. Raises InputError for a missing, a repeated and an unknown id."""
    positions: dict[int, int] = {}  # of the predictions, by the number of the row that gets each
    for position, id in enumerate(lines.marks.ids or ()):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {excerpt(id)} must be a text or a whole number", position)
        row = row_of_id.get(text(id))
        if row is None:
            if rows.sample is not None:
                continue  # of a row of the split that is not in the sample
            if lines.marks.number_column is not None:
                raise _row_number_error(rows, lines, position)
            raise lines.error(f"id {excerpt(id)} is not among {rows.description}; is this another file's?", position)
        if row in positions:
            earlier, line_numbers = positions[row], lines.line_numbers
            where = f"in row {earlier + 1}" if line_numbers is None else f"on line {line_numbers[earlier]}"
            raise lines.error(f"id {excerpt(id)} stands {where} already", position)
        positions[row] = position
    if absent := [id for id, row in row_of_id.items() if row not in positions]:
        raise lines.error(f"{len(absent)} of {rows.description} have no prediction; the first has the id {absent[0]!r}")
    return [positions[row] for row in range(len(row_of_id))]


def _row_number_error(rows: DataRows, lines: PredictionLines, position: int) -> InputError:
    """The error for a column that by its name numbers the rows, and has other numbers than theirs, or one of them twice."""
    numbers = lines.marks.ids or ()
    if repeated_numbers := [number for number, count in Counter(numbers).items() if count > 1]:
        problem = f"repeats {repeated_numbers[0] or 'an empty text'}"
    else:
        number = excerpt(numbers[position])
        problem = f"has {number}, which neither numbers {rows.description} from 0 or 1 nor is an id of theirs"
    remedy = "if the predictions are in the order of the data, leave it out"
    return lines.error(f"column {lines.marks.number_column!r} {problem}; {remedy}", position)


def _check_numbers(rows: DataRows, lines: PredictionLines, order: Order, id_columns: Sequence[str]) -> None:
    """Raise InputError if the numbers beside the predictions may be ids that put them to other rows. They may be if a column of the data file has the
    same name as the column of the numbers, or if it has ids that are all among the numbers, and its values have another order."""
    number_column, numbers = str(lines.marks.number_column), lines.marks.ids or ()
    for column in rows.columns:
        has_same_name = column.lower() == number_column.lower()
        if not (has_same_name or column in id_columns):
            continue
        records = rows.records([], [column])
        ids = [str(record.values[0]) for record in records]
        are_among_numbers = set(ids) <= set(numbers)
        if not (has_same_name or are_among_numbers):
            continue
        for record, id, position in zip(records, ids, order, strict=True):
            if id != numbers[position]:
                in_data = f"column {column!r} of {rows.file} has {excerpt(record.values[0])} on line {record.line}"
                declaration = f"name it in the suite file (submission: {{ids: [{column}]}})"
                remedy = declaration if has_same_name else f"call it {column}"
                raise _other_order_error(lines, position, in_data, remedy)


def _other_order_error(lines: PredictionLines, position: int, in_data: str, remedy: str) -> InputError:
    """The error for a row number that may be an id: of another row, as the words `in_data` say. `remedy`: what to do if it is one."""
    number = (lines.marks.ids or ())[position]
    problem = f"column {lines.marks.number_column!r} has {number}, and {in_data}; if it has ids, {remedy}"
    return lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)
