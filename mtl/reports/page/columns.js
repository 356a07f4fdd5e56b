// The model of the table. TanStack's table-core sorts, filters and hides; board.js creates the elements.

/** The model of the table: its rows in order, its columns and the state of sorting. */
function tableOf(suite, choices) {
  const tasks = shownTasks(suite, choices);
  const showing = choices.columns;
  const columns = [
    { id: "model", accessorFn: (row) => row.label, header: "Model", sortingFn: "text", filterFn: matchesChoices },
    { id: "split", accessorFn: (row) => row.split, header: "Split", sortingFn: "text" },
    scoreColumn(
      "average",
      "AVG",
      averagedTasks(tasks).length < suite.tasks.length ? `mean of ${averagedTasks(tasks).length}` : "mean",
      (row) => (partial(row) ? null : row.average),
      { column: "average" },
    ),
    ...(ownValue(suite.ranked, "average") && showsAverage(suite, tasks) ? [rankColumn()] : []),
    ...(showing === "costs"
      ? []
      : tasks.map((task) =>
          scoreColumn(`task:${task.id}`, task.title, task.metric, (row) => median(row, task), {
            column: task,
          }),
        )),
    ...(showing === "scores"
      ? []
      : costsOf(suite).map((cost) => ({
          ...scoreColumn(`cost:${cost.id}`, cost.title, cost.metric, (row) => row.cost?.[cost.id], { cost }),
          sortDescFirst: Boolean(cost.descending),
        }))),
  ];
  const data = suite.rows.map((row) => withAverageOver(row, tasks, suite));
  const someWhole = data.some((row) => known(row.average) && !row.lacking.length);
  // Partial averages stand below all others, the best first, in either direction.
  const partial = (row) => someWhole && row.lacking.length > 0;
  const sorting = choices.sorting.filter(({ id }) => columns.some((column) => column.id === id));
  const table = TableCore.createTable({
    data: d3.sort(data, (a, b) => partial(a) - partial(b) || (partial(a) ? d3.descending(a.average, b.average) : 0)),
    columns,
    renderFallbackValue: null,
    getRowId: (row) => row.id,
    enableSortingRemoval: false,
    getCoreRowModel: TableCore.getCoreRowModel(),
    getSortedRowModel: TableCore.getSortedRowModel(),
    getFilteredRowModel: TableCore.getFilteredRowModel(),
    state: {},
    onStateChange: () => {},
  });
  const state = {
    ...table.initialState,
    sorting: sorting.length ? sorting : [{ id: "average", desc: true }],
    columnFilters: [{ id: "model", value: choices }],
  };
  table.setOptions((options) => ({
    ...options,
    state,
    onSortingChange: (change) => {
      choices.sorting = change(state.sorting);
    },
  }));
  return table;
}

function scoreColumn(id, header, metric, value, meta) {
  return {
    id,
    header,
    accessorFn: (row) => value(row) ?? undefined,
    sortingFn: "basic",
    sortDescFirst: true,
    sortUndefined: "last",
    meta: { ...meta, metric },
  };
}

/** The intervals of ranks by the average, sorted by their lower and then by their upper end. */
function rankColumn() {
  const place = ({ average_rank: rank }) => rank && rank[0] + rank[1] / 1e6;
  return { ...scoreColumn("rank", "Rank", "95 %", place, { rank: true }), sortDescFirst: false };
}

function matchesChoices(row, column, choices) {
  return matches(row.original, choices);
}
