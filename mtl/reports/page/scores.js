// The plots of scores: one panel for the average and one for each task.

/** One panel for the average and one for each task, with one line per row, in the order of the table. */
function scoreFigures(scene) {
  const { suite, rows, tasks, width } = scene;
  const across = Math.max(1, Math.min(3, Math.floor(width / 360)));
  const panel = Math.floor((width - (across - 1) * 24) / across);
  const columns = ["average", ...tasks].filter((column) => rows.some((row) => known(valueOf(row, column))));
  const own = rows.some((row) => row.source === "run");
  const published = rows.some((row) => row.source === "published");
  const marked = columns.some((column) => rows.some((row) => known(valueOf(row, column)) && marksOf(row, column)));
  return h(
    "section",
    { "aria-labelledby": "scores-title" },
    h("h3", { id: "scores-title" }, "Scores by task"),
    legendList([
      own && ["dot own", `${ownNoun}, ${rows.some((row) => row.details) ? "median, " : ""}${ownSplits(rows).join(", ")}`],
      own && ["bar thick", "95 % CI"],
      own && ["bar", "lowest to highest over seeds"],
      published && ["dot", `published, ${publishedSplits(rows).join(", ")}`],
      marked && ["", "* † ‡ § see the notes below the table"],
    ]),
    columns.length
      ? h(
          "div",
          { class: "panels", style: `--across: ${across}` },
          columns.map((column) =>
            h("figure", {}, h("h4", {}, panelTitle(column, tasks, suite)), scorePlot(scene, column, panel)),
          ),
        )
      : h("p", {}, "No row has a score."),
  );
}

function panelTitle(column, tasks, suite) {
  if (column !== "average") return [column.title, h("span", { class: "quiet" }, ` ${column.metric}`)];
  return [
    "AVG",
    h(
      "span",
      { class: "quiet" },
      averagedTasks(tasks).length < suite.tasks.length ? ` over ${withCount(averagedTasks(tasks).length, "task")}` : " over all tasks",
    ),
  ];
}

function scorePlot({ rows, names, width: whole }, column, width) {
  const marks = rows
    .filter((row) => known(valueOf(row, column)))
    .map((row) => ({
      row,
      id: row.id,
      name: names.get(row.id) + marksOf(row, column),
      value: valueOf(row, column),
      range: rangeOf(row, column),
      interval: intervalOf(row, column),
    }));
  const margin = Math.min(Math.max(...marks.map(({ name }) => widthOf(name))) + 2, width * (whole < 500 ? 0.42 : 0.46));
  const wrapped = new Map(marks.map(({ id, name }) => [id, wrapText(name, margin).join("\n")]));
  const tallest = Math.max(...[...wrapped.values()].map((text) => text.split("\n").length));
  const title = column === "average" ? "AVG" : column.title;
  return plotImage(
    {
      width,
      height: marks.length * (LINE_HEIGHT * tallest + 6) + 48,
      marginLeft: margin + 12,
      marginTop: 6,
      marginRight: 14,
      marginBottom: 36,
      x: { label: scoreUnit, grid: true, nice: true, ticks: 4, labelAnchor: "right", labelArrow: "none" },
      y: {
        type: "point",
        domain: marks.map(({ id }) => id),
        label: null,
        tickSize: 0,
        tickFormat: (id) => wrapped.get(id),
        padding: 0.6,
      },
      marks: [
        Plot.ruleY(
          marks.filter(({ range }) => range),
          { y: "id", x1: ({ range }) => range[0], x2: ({ range }) => range[1], stroke: "var(--own)" },
        ),
        Plot.ruleY(
          marks.filter(({ interval }) => interval),
          {
            y: "id",
            x1: ({ interval }) => interval[0],
            x2: ({ interval }) => interval[1],
            stroke: "var(--own)",
            strokeWidth: 5,
            strokeOpacity: 0.3,
          },
        ),
        Plot.dot(
          marks.filter(({ row }) => row.source === "published"),
          { x: "value", y: "id", r: 3.5, stroke: "var(--published)", fill: "var(--page)", strokeWidth: 1.4 },
        ),
        Plot.dot(
          marks.filter(({ row }) => row.source === "run"),
          { x: "value", y: "id", r: 4, fill: "var(--own)" },
        ),
        Plot.tip(marks, Plot.pointerY({ x: "value", y: "id", title: tipText })),
      ],
    },
    `${title}: ${marks.map(({ name, value }) => `${name} ${formatScore(value)}`).join("; ")}`,
  );
}

function tipText({ name, value, range, interval }) {
  const spreads = [range && `seeds ${formatRange(...range)}`, interval && `95 % CI ${formatRange(...interval)}`];
  return [`${shortened(name, 60)}: ${formatScore(value)}`, ...spreads.filter(Boolean)].join("\n");
}
