// The plot of the average against a cost.

const PLOTTED = [{ id: "training", unit: "training time of a seed", format: formatSeconds }, ...COSTS];

/** A row's cost; the training time is that of both stages, or of a simple baseline. */
function costOf(row, { id }) {
  if (!row.cost) return null;
  return id === "training" ? (row.cost.pretrain_seconds ?? 0) + (row.cost.finetune_seconds ?? 0) : row.cost[id];
}

/** The average over the tasks shown, against a cost that the user selects, on a logarithmic scale. */
function costFigure(scene) {
  const { suite, rows, names, style, width, choices } = scene;
  const rowsWith = (cost) => rows.filter((row) => costOf(row, cost) > 0 && known(row.average));
  const offered = PLOTTED.filter((cost) => rowsWith(cost).length);
  const cost = offered.find(({ id }) => id === choices.cost) ?? offered[0];
  const section = (...content) =>
    h(
      "section",
      { "aria-labelledby": "cost-title" },
      h("h3", { id: "cost-title" }, "Average against cost"),
      ...content,
    );
  if (!cost) return section(h("p", {}, "The rows shown have no known cost."));
  const points = rowsWith(cost);
  const height = Math.min(460, Math.max(300, width * 0.45));
  const title = `Average against ${cost.unit}`;
  const description = (row) => `${names.get(row.id)} ${formatScore(row.average)} at ${cost.format(costOf(row, cost))}`;
  const svg = plotImage(
    {
      width,
      height,
      marginLeft: 44,
      marginRight: 20,
      marginTop: 28,
      marginBottom: 40,
      x: {
        type: "log",
        label: cost.unit,
        grid: true,
        tickFormat: cost.format,
        ticks: Math.max(2, Math.floor(width / 130)),
        domain: widenedDomain(points.map((row) => costOf(row, cost))),
      },
      y: { label: `AVG, ${scoreUnit}`, grid: true, nice: true, inset: 12, domain: domainOfConstant(points.map((row) => row.average)) },
      symbol: { type: "identity" },
      color: { type: "identity" },
      marks: [
        Plot.dot(points, {
          x: (row) => costOf(row, cost),
          y: "average",
          r: 5,
          symbol: (row) => symbolOf(suite, row.family),
          stroke: (row) => symbolColours(style, row).stroke,
          fill: (row) => symbolColours(style, row).fill,
        }),
        Plot.tip(
          points,
          Plot.pointer({
            x: (row) => costOf(row, cost),
            y: "average",
            title: (row) =>
              `${shortened(names.get(row.id), 60)}\n${formatScore(row.average)}, ${cost.format(costOf(row, cost))}`,
          }),
        ),
      ],
    },
    `${title}: ${points.map(description).join("; ")}`,
  );
  const [x, y] = [svg.scale("x"), svg.scale("y")];
  svg.append(
    labelGroup(
      placeLabels(
        points.map((row) => ({
          x: x.apply(costOf(row, cost)),
          y: y.apply(row.average),
          text: shortened(names.get(row.id), 48) + marksOf(row, "average"),
        })),
        { left: 46, right: width, top: 20, bottom: height - 42 },
      ),
    ),
  );
  const omitted = rows.filter((row) => row.source === "run" && !points.includes(row));
  return section(
    selectField(
      "Cost",
      "plot:cost",
      offered.map(({ id, unit }) => [id, unit]),
      cost.id,
      (id) => {
        choices.cost = id;
        scene.redraw();
      },
    ),
    figure(`${title}, on a logarithmic scale`, svg, ...symbolLegends(suite, points, names, style)),
    omitted.length > 0 &&
      h("p", {}, `Not shown, since they have no cost above 0: ${joinSome(omitted.map((row) => names.get(row.id)))}.`),
  );
}

function widenedDomain(values) {
  return [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
}

/** The labels at the positions that `placeLabels` found. */
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
