"""Which prediction each row of the data gets: as ids, numbers, the order of the lines or the columns beside the predictions say."""

from collections import Counter
from collections.abc import Mapping, Sequence

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.submissions.data_rows import DataRows
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.order_by_columns import order_by_columns
from mtl.submissions.row_files import show


def prediction_order(rows: DataRows, lines: PredictionLines, ids: Sequence[str]) -> Order:
    """The position of the prediction that each row gets. Ids or numbers beside the predictions say it, or else the order of the lines. Columns of the
    data that stand beside the predictions confirm it, or say another order. The ids are in the first column of `ids` that the data has, else in `id`.
    Raises InputError for predictions of other rows."""
    marks, count = lines.marks, len(lines.values)
    order = rows.order_of_lines(count)
    if marks.has_ids:
        order = _order_by_ids(rows, lines, _rows_by_id(rows, lines, [*ids, ID]))
    elif order is not None and marks.first_number is not None:
        rows_by_number = {str(marks.first_number + position): row for row, position in enumerate(order)}
        order = _order_by_ids(rows, lines, rows_by_number)
    if order is not None or lines.are_rows:
        order = _confirmed_order(rows, lines, order)
    if order is None:
        rule = "; without ids, each row has one, in their order" if lines.writing == "values" else ""
        raise lines.error(f"{count} predictions for {rows.description}{rule}", count - 1)
    if marks.ignored:
        message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
        logger.warning(message, lines.name, rows.file, listed(marks.ignored, 5))
    if marks.first_number is not None:
        _check_numbers(rows, lines, order, [*ids, ID])
    return order


def _order_by_ids(rows: DataRows, lines: PredictionLines, rows_by_id: Mapping[str, int]) -> Order:
    """The order in which each row gets the prediction with its id, or its number. Raises InputError for a row without a prediction, an id that stands
    twice, and one that no row has, unless the rows are a sample."""
    positions: dict[int, int] = {}  # of the predictions, by row
    for position, id in enumerate(lines.marks.ids or ()):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {show(id)} must be a text or a whole number", position)
        row = rows_by_id.get(text(id))
        if row is None:
            if rows.sample is not None:
                continue
            if lines.marks.number_column is not None:
                raise _number_error(rows, lines, position)
            raise lines.error(f"id {show(id)} is not among {rows.description}; is this another file's?", position)
        if row in positions:
            earlier, numbers = positions[row], lines.line_numbers
            where = f"in row {earlier + 1}" if numbers is None else f"on line {numbers[earlier]}"
            raise lines.error(f"id {show(id)} stands {where} already", position)
        positions[row] = position
    if lacking := [id for id, row in rows_by_id.items() if row not in positions]:
        problem = f"{len(lacking)} of {rows.description} have no prediction; the first has the id {lacking[0]!r}"
        raise lines.error(problem)
    return [positions[row] for row in range(len(rows_by_id))]


def _rows_by_id(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> dict[str, int]:
    """The number of each row by its id in the first of these columns that the data has. Raises InputError if it has none, and for an id of two rows."""
    column = next((name for name in id_columns if name in rows.columns), None)
    if column is None:
        if lines.marks.number_column is not None:
            raise _number_error(rows, lines, 0)
        problem = f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys(id_columns))}"
        remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
        raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)
    rows_by_id: dict[str, int] = {}
    for record in rows.records([column]):
        id = text(record.values[0])
        if id in rows_by_id:
            problem = f"column {column!r} has {id!r} twice and does not tell rows apart"
            remedy = "leave the ids out of the predictions, in the order of these rows"
            raise InputError(f"{problem}; {remedy}", path=rows.file, line=record.line)
        rows_by_id[id] = len(rows_by_id)
    return rows_by_id


def _number_error(rows: DataRows, lines: PredictionLines, position: int) -> InputError:
    """What is wrong with a column that by its name numbers the rows, but has neither their numbers nor their ids."""
    column, ids = f"column {lines.marks.number_column!r}", lines.marks.ids or ()
    repeated = [id for id, count in Counter(ids).items() if count > 1 and id]
    if repeated:
        problem = f"{column} repeats {repeated[0]}"
    else:
        rule = f"neither numbers {rows.description} from 0 or 1 nor is an id of theirs"
        problem = f"{column} has {show(ids[position])}, which {rule}"
    return lines.error(f"{problem}; if the predictions are in the order of the data, leave it out", position)


def _confirmed_order(rows: DataRows, lines: PredictionLines, expected: Order | None) -> Order | None:
    """The expected order, unless columns that the data and the predictions share say another one. Raises InputError, too, for texts beside the
    predictions if the data has no column to compare."""
    if shared := [name for name in lines.marks.columns if name in rows.columns]:
        return order_by_columns(rows, lines, shared, expected)
    if texts := [name for name in lines.marks.columns if name in rows.task.text_columns]:
        problem = f"has a column {texts[0]!r}, and {rows.file} has none to compare it with"
        remedy = "name the data's folder, or leave the column out if the lines are in the order of the rows"
        raise lines.error(f"{problem}; {remedy}", 0)
    return expected


def _check_numbers(rows: DataRows, lines: PredictionLines, order: Order, id_columns: Sequence[str]) -> None:
    """Raise InputError if the numbers may be ids that put the predictions to other rows. They may be if a column of the data file has the
    same name as the column of the numbers, or if it has ids that are all among the numbers, and its values have another order."""
    title, numbers = str(lines.marks.number_column), lines.marks.ids or ()
    for column in rows.columns:
        has_same_name = column.lower() == title.lower()
        if not has_same_name and column not in id_columns:
            continue
        records = rows.records([], [column])
        values = [record.values[0] for record in records]
        if not has_same_name and not {str(value) for value in values} <= set(numbers):
            continue
        for position, record, value in zip(order, records, values, strict=True):
            if str(value) != numbers[position]:
                there = f"column {column!r} of {rows.file} has {show(value)} on line {record.line}"
                declared = f"name it in the suite file (submission: {{ids: [{column}]}})"
                remedy = declared if has_same_name else f"call it {column}"
                problem = f"column {title!r} has {numbers[position]}, and {there}; if it has ids, {remedy}"
                raise lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)
