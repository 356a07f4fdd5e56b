"""Which prediction each row of the data gets: by ids, by row numbers or by the order of the lines, which values of the data may correct."""

from collections import Counter
from collections.abc import Mapping, Sequence

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.data.records import Record
from mtl.submissions.column_order import column_order
from mtl.submissions.data_rows import DataRows
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import excerpt


def prediction_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order:
    """The position of each row's prediction. Ids are those of the first of `id_columns`, else `id`, in the data. Raises InputError if none fits."""
    columns = [*id_columns, ID]
    stated_order = _stated_order(rows, lines, columns)
    # Values of the data may correct that order, or say one where the file may have more rows than the data.
    may_compare = stated_order is not None or lines.may_have_more_rows
    order = column_order(rows, lines, stated_order) if may_compare else None
    if order is None:
        rule = "; without ids, each row has one, in their order" if lines.value_form == "values" else ""
        raise lines.error(f"{len(lines.values)} predictions for {rows.description}{rule}", len(lines.values) - 1)
    if lines.marks.ignored:
        message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
        logger.warning(message, lines.name, rows.file, listed(lines.marks.ignored, 5))
    if lines.marks.first_number is not None:
        _check_numbers_are_not_ids(rows, lines, order, columns)
    return order


def _stated_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order | None:
    """The order that ids or numbers say, else that of the lines; None if the lines are too few or too many for the rows, or for their whole split."""
    if lines.marks.has_ids:
        return _order_by_id(rows, lines, rows.numbers_by_id(_id_column(rows, lines, id_columns)))
    line_order = _line_order(rows, len(lines.values))
    if line_order is None or lines.marks.first_number is None:
        return line_order
    row_by_number = {str(lines.marks.first_number + position): row for row, position in enumerate(line_order)}
    return _order_by_id(rows, lines, row_by_number)


def _line_order(rows: DataRows, line_count: int) -> Order | None:
    """The order of lines that are in the order of the rows, or of the whole split that these are a sample of; None for another number of lines."""
    if rows.sample is not None and line_count == rows.sample.whole:
        return rows.sample.positions
    return range(len(rows)) if line_count == len(rows) else None


def _id_column(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> str:
    """The first of these columns that the data has. Raises InputError if it has none."""
    for column in id_columns:
        if column in rows.columns:
            return column
    problem = f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys(id_columns))}"
    remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
    raise _unknown_id_error(rows, lines, 0, f"{problem}; {remedy} (submission: ids)")  # the first id stands for all


def _order_by_id(rows: DataRows, lines: PredictionLines, row_by_id: Mapping[str, int]) -> Order:
    """The order in which each row gets the prediction with its id, or its number. Raises InputError for a missing, a repeated and an unknown id."""
    position_by_row: dict[int, int] = {}
    for position, id in enumerate(lines.marks.stated_ids):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {excerpt(id)} must be a text or a whole number", position)
        row = row_by_id.get(text(id))
        if row is None:
            if rows.sample is not None:
                continue  # of a row of the split that is not in the sample
            problem = f"id {excerpt(id)} is not among {rows.description}; is this another file's?"
            raise _unknown_id_error(rows, lines, position, problem)
        if row in position_by_row:
            earlier, line_numbers = position_by_row[row], lines.line_numbers
            where = f"in row {earlier + 1}" if line_numbers is None else f"on line {line_numbers[earlier]}"
            raise lines.error(f"id {excerpt(id)} stands {where} already", position)
        position_by_row[row] = position
    if absent := [id for id, row in row_by_id.items() if row not in position_by_row]:
        raise lines.error(f"{len(absent)} of {rows.description} have no prediction; the first has the id {absent[0]!r}")
    return [position_by_row[row] for row in sorted(position_by_row)]


def _unknown_id_error(rows: DataRows, lines: PredictionLines, position: int, id_problem: str) -> InputError:
    """The error for an id of no row: the problem with the id, or where its column is called like one of numbers, what is wrong with these numbers."""
    if lines.marks.number_column is None:
        return lines.error(id_problem, position)
    numbers = lines.marks.stated_ids
    if repeated_numbers := [number for number, count in Counter(numbers).items() if count > 1]:
        problem = f"repeats {repeated_numbers[0] or 'an empty text'}"
    else:
        number = excerpt(numbers[position])
        problem = f"has {number}, which neither numbers {rows.description} from 0 or 1 nor is an id of theirs"
    remedy = "if the predictions are in the order of the data, leave it out"
    return lines.error(f"column {lines.marks.number_column!r} {problem}; {remedy}", position)


def _check_numbers_are_not_ids(rows: DataRows, lines: PredictionLines, order: Order, id_columns: Sequence[str]) -> None:
    """Raise InputError if the numbers beside the predictions may be ids that put them to other rows than this order. They may be if a column of the
    data file has the same name as the column of the numbers, or if it has ids that are all among the numbers."""
    for column in rows.columns:
        name_in_data = f"column {column!r} of {rows.file}"
        if column.lower() == str(lines.marks.number_column).lower():
            remedy = f"name it in the suite file (submission: {{ids: [{column}]}})"
            _check_column(lines, order, rows.records([], [column]), name_in_data, remedy)
        elif column in id_columns:
            records = rows.records([], [column])
            if {str(record.values[0]) for record in records} <= set(lines.marks.stated_ids):
                _check_column(lines, order, records, name_in_data, f"call it {column}")


def _check_column(lines: PredictionLines, order: Order, records: list[Record], name_in_data: str, remedy: str) -> None:
    """Raise InputError, with this remedy, if the value of a record, in its only column, is not the number beside the row's prediction."""
    for record, position in zip(records, order, strict=True):
        if str(record.values[0]) != (number := lines.marks.stated_ids[position]):
            in_lines = f"column {lines.marks.number_column!r} has {number}"
            in_data = f"{name_in_data} has {excerpt(record.values[0])} on line {record.line}"
            problem = f"{in_lines}, and {in_data}; if it has ids, {remedy}"
            raise lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)
