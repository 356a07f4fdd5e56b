// The table: its header, its rows and the panels of opened rows.

/** Draw a page of the table into #board. `changed` is called when the user sorts or opens a row, `panel` creates an opened row's content. */
function drawBoard(suite, choices, changed, panel) {
  const table = tableOf(suite, choices);
  const rows = table.getRowModel().rows.map((row) => row.original);
  const columns = table.getVisibleLeafColumns();
  const bests = bestOf(rows, columns);
  const { first, shown } = pageOf(rows, choices);
  const body = shown.flatMap((row) => {
    const opened = choices.opened.has(row.id) && Boolean(row.details);
    const toggle = () => {
      if (!choices.opened.delete(row.id)) choices.opened.add(row.id);
      changed();
    };
    const line = h(
      "tr",
      { class: row.source, "data-row": row.id },
      cellsOf(suite, choices, row, columns, bests, opened, toggle),
    );
    return opened
      ? [line, h("tr", { class: "opened", id: `panel-${row.id}` }, h("td", { colspan: columns.length }, panel(row)))]
      : [line];
  });
  const board = document.getElementById("board");
  // A long table scrolls while its header stays visible.
  board.classList.toggle("long", shown.length > 30);
  board.replaceChildren(
    h(
      "table",
      {},
      h("caption", { class: "visually-hidden" }, `${suite.title}: models, their average and their score on each task`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map((column) => headerCell(column, changed)),
        ),
      ),
      h(
        "tbody",
        {},
        body.length
          ? body
          : h(
              "tr",
              {},
              h(
                "td",
                { colspan: columns.length, class: "empty" },
                suite.rows.length ? "No row matches these filters." : "There are no rows.",
              ),
            ),
      ),
    ),
  );
  drawPager(rows.length, choices, changed);
  return { rows, first, shown, sorted: sortedBy(table) };
}

function headerCell(column, changed) {
  const direction = column.getIsSorted();
  const { header } = column.columnDef;
  const metric = column.columnDef.meta?.metric;
  const arrow = direction ? (direction === "desc" ? "▼" : "▲") : "";
  return h(
    "th",
    {
      scope: "col",
      class: column.id === "model" ? "model" : column.id === "split" ? "" : "number",
      "aria-sort": direction ? `${direction}ending` : null,
    },
    h(
      "button",
      {
        type: "button",
        "data-key": `sort:${column.id}`,
        title: `Sort by ${header}${metric ? `, ${metric}` : ""}`,
        onclick: () => {
          column.toggleSorting();
          changed();
        },
      },
      arrow && h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
      header,
      metric && h("span", { class: "metric" }, metric),
    ),
  );
}

function cellsOf(suite, choices, row, columns, bests, opened, toggle) {
  const reference = suite.rows.find((other) => other.id === choices.reference);
  const tests =
    reference && row.id !== reference.id && row.source === "run" ? pairedTests(suite, row.id, reference.id) : null;
  let remark = null;
  if (reference && row.source === "run" && !tests) {
    remark = row.id === reference.id ? "compared with this" : "no paired test";
  }
  const below = (column) => {
    if (!reference) return spreadOf(row, column, choices.spread);
    if (column !== "average") return verdictOf(ownValue(tests, column.id), reference.label, choices.spread);
    return !showsAverage(suite, shownTasks(suite, choices)) ? null : verdictOf(ownValue(tests, "average"), reference.label, choices.spread);
  };
  const cell = ({ id, columnDef: { meta } }) => {
    if (id === "model") return modelCell(row, opened, remark, toggle);
    if (id === "split") return splitCell(row);
    if (meta.rank) return rankCell(row);
    if (meta.cost) return costCell(row, meta.cost);
    return scoreCell(row, meta.column, isBest(bests.get(id).get(splitOf(row, meta.column)), row, meta.column), below(meta.column));
  };
  return columns.map((column) => {
    const filled = cell(column);
    filled.dataset.label = column.columnDef.header; // which a narrow page shows above the value
    return filled;
  });
}

/** Each column's best values by split, as a map of maps. */
function bestOf(rows, columns) {
  const scores = columns.filter((column) => column.columnDef.meta?.column);
  return new Map(
    scores.map(({ id, columnDef: { meta } }) => [
      id,
      d3.rollup(
        rows,
        (same) => best(same, meta.column),
        (row) => splitOf(row, meta.column),
      ),
    ]),
  );
}

function sortedBy(table) {
  const { id, desc } = table.getState().sorting[0];
  const column = table.getColumn(id).columnDef;
  const what = id.startsWith("cost:") ? `${column.header}, ${column.meta.metric}` : column.header;
  if (id === "model" || id === "split") return `${what.toLowerCase()}, ${desc ? "Z to A" : "A to Z"}`;
  if (id === "rank") return `${what.toLowerCase()}, ${desc ? "last" : "first"} ranks first`;
  return `${what}, ${desc ? "highest" : "lowest"} first`;
}
