// A run's predictions and the true targets of a task: a confusion matrix for labels, a scatter plot for numbers.

function predictionsOf(task, classes, width) {
  if (!classes) return null;
  if (classes.confusion) return confusionTable(task, classes);
  return classes.points?.length ? scatter(task, classes, width) : null;
}

/** Rows are the true labels, columns the predicted ones; the larger a cell's share of its row, the darker it is. */
function confusionTable(task, { seed, confusion }) {
  const labels = confusion.map((_, index) => String(task.labels?.[index] ?? index));
  const caption =
    `${task.title}, predictions of seed ${seed} (the middle seed by score): rows are the true labels, columns the predicted ones; ` +
    "shades and percentages are shares of the row";
  return figure(
    caption,
    h(
      "div",
      { class: "scroller", role: "region", tabindex: "0", "aria-label": `Confusion matrix of ${task.title}` },
      h(
        "table",
        { class: "confusion" },
        h("caption", { class: "visually-hidden" }, `Confusion matrix of ${task.title}`),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "true ╲ predicted"),
            labels.map((label) => h("th", { scope: "col" }, label)),
          ),
        ),
        h(
          "tbody",
          {},
          confusion.map((row, gold) => {
            const total = row.reduce((sum, count) => sum + count, 0);
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, labels[gold]),
              row.map((count, predicted) => {
                const share = total ? count / total : 0;
                return h(
                  "td",
                  {
                    class: gold === predicted ? "number right" : "number",
                    style: `--share: ${(45 * share).toFixed(1)}%`,
                  },
                  String(count),
                  h("span", { class: "spread" }, total ? ` ${(100 * share).toFixed(0)} %` : ""),
                );
              }),
            );
          }),
        ),
      ),
    ),
  );
}

function scatter(task, { seed, points }, width) {
  const error = mean(points.map(([gold, predicted]) => Math.abs(gold - predicted)));
  const [low, high] = task.range ?? d3.extent(points.flat());
  const title =
    `${task.title}, seed ${seed} (the middle seed by score): predicted and true values of ${points.length} rows, with a mean ` +
    `absolute error of ${error.toFixed(2)}; on the dashed line, a prediction equals the true value`;
  const size = Math.min(width, 360);
  return figure(
    title,
    plotImage(
      {
        width: size,
        height: size,
        marginLeft: 44,
        marginBottom: 40,
        x: { label: "true", domain: [low, high], nice: true },
        y: {
          label: "predicted",
          domain: d3.extent([low, high, ...points.map((point) => point[1])]),
          nice: true,
          grid: true,
        },
        marks: [
          Plot.line(
            [
              [low, low],
              [high, high],
            ],
            { stroke: "var(--muted)", strokeDasharray: "4 3" },
          ),
          Plot.dot(points, { x: "0", y: "1", r: 2.5, fill: "var(--own)", fillOpacity: 0.35 }),
        ],
      },
      title,
    ),
  );
}
