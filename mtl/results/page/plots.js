// The plots below the table: scores by task, accuracy against cost, learning curves.

/** What a reader chose in the plots; it outlives every redrawing. */
function freshPlotChoices() {
  return { cost: "", task: "" };
}

/** Draw all plots of the rows that the table shows. */
function drawPlots(suite, choices, plotChoices, rows) {
  const place = document.getElementById("figures");
  const scene = {
    suite, rows, tasks: shownTasks(suite, choices), names: fullNames(suite), style: looks(suite), choices: plotChoices,
    width: place.clientWidth, redraw: () => keepingFocus(() => drawPlots(suite, choices, plotChoices, rows)),
  };
  place.replaceChildren(scoreFigures(scene), costFigure(scene), ...curveFigures(scene));
}

/** A panel for the average and for each task: a row a line, in the order of the table. */
function scoreFigures(scene) {
  const { suite, rows, tasks, width } = scene;
  const across = Math.max(1, Math.min(3, Math.floor(width / 360)));
  const panel = Math.floor((width - (across - 1) * 24) / across);
  const columns = ["average", ...tasks].filter((column) => rows.some((row) => known(valueOf(row, column))));
  const own = rows.some((row) => row.source === "run");
  const published = rows.some((row) => row.source === "published");
  return h("section", { "aria-labelledby": "scores-title" }, h("h3", { id: "scores-title" }, "Scores by task"),
    keyList([
      own && ["dot own", "own run, median, dev"], own && ["bar thick", "95 % interval"],
      own && ["bar", "least to greatest over seeds"], published && ["dot", "published, test"],
    ]),
    columns.length ? h("div", { class: "panels", style: `--across: ${across}` }, columns.map((column) =>
      h("figure", {}, h("h4", {}, panelTitle(column, tasks, suite)), scorePlot(scene, column, panel)))) : h("p", {}, "No row has a score."));
}

function panelTitle(column, tasks, suite) {
  if (column !== "average") return [column.title, h("span", { class: "quiet" }, ` ${inMetric(column.metric)}`)];
  return ["AVG", h("span", { class: "quiet" }, tasks.length < suite.tasks.length ? ` over ${tasks.length} tasks` : " over all tasks")];
}

function scorePlot({ rows, names, width: whole }, column, width) {
  const marks = rows.filter((row) => known(valueOf(row, column))).map((row) => {
    const score = column === "average" ? null : at(row.scores, column.id);
    const range = column === "average" ? row.average_range : row.source === "run" && known(score.min) ? [score.min, score.max] : null;
    const interval = column === "average" ? row.average_interval : score.interval;
    return { row, id: row.id, value: valueOf(row, column), range, interval };
  });
  const margin = Math.min(Math.max(...marks.map(({ id }) => widthOf(names.get(id)))) + 2, width * (whole < 500 ? 0.42 : 0.46));
  const wrapped = new Map(marks.map(({ id }) => [id, lines(names.get(id), margin).join("\n")]));
  const tallest = Math.max(...[...wrapped.values()].map((text) => text.split("\n").length));
  const title = column === "average" ? "AVG" : column.title;
  const marked = ({ row, value }) => `${names.get(row.id)} ${inScore(value)}${caveat(row, column) && " (see the notes)"}`;
  return drawn({
    width, height: marks.length * (LINE_HEIGHT * tallest + 6) + 48, marginLeft: margin + 12, marginTop: 6, marginRight: 14, marginBottom: 36,
    x: { label: "score × 100", grid: true, nice: true, ticks: 4, labelAnchor: "right", labelArrow: "none" },
    y: { type: "point", domain: marks.map(({ id }) => id), label: null, tickSize: 0, tickFormat: (id) => wrapped.get(id), padding: 0.6 },
    marks: [
      Plot.ruleY(marks.filter(({ range }) => range), { y: "id", x1: ({ range }) => range[0], x2: ({ range }) => range[1], stroke: "var(--own)" }),
      Plot.ruleY(marks.filter(({ interval }) => interval), { y: "id", x1: ({ interval }) => interval[0], x2: ({ interval }) => interval[1],
        stroke: "var(--own)", strokeWidth: 5, strokeOpacity: 0.3 }),
      Plot.dot(marks.filter(({ row }) => row.source === "published"), { x: "value", y: "id", r: 3.5, stroke: "var(--published)",
        fill: "var(--page)", strokeWidth: 1.4 }),
      Plot.dot(marks.filter(({ row }) => row.source === "run"), { x: "value", y: "id", r: 4, fill: "var(--own)" }),
      Plot.tip(marks, Plot.pointerY({ x: "value", y: "id", title: tipOf(names) })),
    ],
  }, `${title}: ${marks.map(marked).join("; ")}`);
}

function tipOf(names) {
  return ({ row, value, range, interval }) => [
    `${shortened(names.get(row.id), 60)}: ${inScore(value)}`,
    range && `seeds ${inRange(...range)}`, interval && `95 % interval ${inRange(...interval)}`,
  ].filter(Boolean).join("\n");
}

/** The average over the tasks shown, against one cost on a logarithmic scale. */
function costFigure(scene) {
  const { rows, names, style, width, choices } = scene;
  const priced = (cost) => rows.filter((row) => row.cost?.[cost.id] > 0 && known(row.average));
  const offered = COSTS.filter((cost) => priced(cost).length);
  const cost = offered.find(({ id }) => id === choices.cost) ?? offered[0];
  const section = (...content) => h("section", { "aria-labelledby": "cost-title" },
    h("h3", { id: "cost-title" }, "Average against cost"), ...content);
  if (!cost) return section(h("p", {}, "No cost is known of the rows shown."));
  const points = priced(cost);
  const height = Math.min(460, Math.max(300, width * 0.45));
  const title = `Average against ${cost.unit}`;
  const svg = drawn({
    width, height, marginLeft: 44, marginRight: 20, marginTop: 28, marginBottom: 40,
    x: { type: "log", label: cost.unit, grid: true, tickFormat: cost.format,
      ticks: Math.max(2, Math.floor(width / 130)), domain: widened(points.map((row) => row.cost[cost.id])) },
    y: { label: "AVG, score × 100", grid: true, nice: true, inset: 12 },
    symbol: { type: "identity" }, color: { type: "identity" },
    marks: [
      Plot.dot(points, {
        x: (row) => row.cost[cost.id], y: "average", r: 5, symbol: (row) => style.get(row.id)?.symbol ?? "circle",
        stroke: (row) => style.get(row.id)?.colour ?? "var(--muted)", fill: (row) => style.get(row.id)?.colour ?? "none",
      }),
      Plot.tip(points, Plot.pointer({ x: (row) => row.cost[cost.id], y: "average",
        title: (row) => `${shortened(names.get(row.id), 60)}\n${inScore(row.average)}, ${cost.format(row.cost[cost.id])}` })),
    ],
  }, `${title}: ${points.map((row) => `${names.get(row.id)} ${inScore(row.average)} at ${cost.format(row.cost[cost.id])}`).join("; ")}`);
  const [x, y] = [svg.scale("x"), svg.scale("y")];
  svg.append(labelGroup(placed(points.map((row) => ({
    x: x.apply(row.cost[cost.id]), y: y.apply(row.average), text: shortened(names.get(row.id), 48),
  })), width, height - 40)));
  return section(
    selectField("Cost", "plot:cost", offered.map(({ id, unit }) => [id, unit]), cost.id, (id) => {
      choices.cost = id;
      scene.redraw();
    }),
    figure(`${title}, on a logarithmic scale`, svg, legend(points, names, style, "symbol")));
}

function widened(values) {
  return [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
}

/** Labels at the places found for them. */
function labelGroup(labels) {
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  for (const { left, middle, text } of labels) {
    const label = document.createElementNS("http://www.w3.org/2000/svg", "text");
    label.setAttribute("x", left);
    label.setAttribute("y", middle + 4);
    label.setAttribute("fill", "currentColor");
    label.setAttribute("text-anchor", "start");
    label.textContent = text;
    group.append(label);
  }
  return group;
}

/** The learning curves of both stages, as far as rows have them. */
function curveFigures(scene) {
  const { suite, rows, tasks, names, style, width, choices } = scene;
  const own = rows.filter((row) => row.details?.curves?.length);
  const whole = tasks.length === suite.tasks.length;
  const points = (stage, task) => own.flatMap((row) => curvePoints(row, stage, task, tasks, whole));
  const drawnCurves = (found, title) => {
    const shown = own.filter((row) => found.some((point) => point.row === row));
    return figure(title, curvePlot(found, shown, names, style, width, title), legend(shown, names, style, "line"));
  };
  const first = points("pretrain");
  const second = tasks.filter((task) => points("finetune", task).length);
  const task = second.find(({ id }) => id === choices.task) ?? second[0];
  const none = h("p", {}, "No row shown has such curves.");
  return [
    h("section", { "aria-labelledby": "stage1-title" }, h("h3", { id: "stage1-title" }, "Learning curves, stage 1: all tasks together"),
      first.length ? drawnCurves(first, "Average on the validation data by training step, a line a seed") : none.cloneNode(true)),
    h("section", { "aria-labelledby": "stage2-title" }, h("h3", { id: "stage2-title" }, "Learning curves, stage 2: each task alone"),
      task && selectField("Task", "plot:task", second.map(({ id, title }) => [id, title]), task.id, (id) => {
        choices.task = id;
        scene.redraw();
      }),
      task ? drawnCurves(points("finetune", task), `${task.title} on the validation data by training step, a line a seed`) : none),
  ];
}
