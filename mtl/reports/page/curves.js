// Learning curves: a score by training step.

/** The average over `tasks` at a point of a curve; `whole`: whether they are all tasks of the suite. */
function averageAt(point, tasks, whole) {
  if (whole) return point.average;
  const scores = tasks.map((shown) => ownValue(point.scores, shown.id)).filter(known);
  return scores.length === tasks.length ? mean(scores) : null;
}

/**
 * The points {row, seed, step, score} of a run's curves in a stage. In stage 1, the score is the average over `tasks`;
 * in stage 2, it is the score on `task`.
 */
function curvePoints(row, stage, task, tasks, whole) {
  return (row.details?.curves ?? [])
    .filter((curve) => curve.stage === stage && (stage === "pretrain" || curve.task === task.id))
    .flatMap((curve) =>
      curve.points.map((point) => ({
        row,
        seed: curve.seed,
        step: point.step,
        score: stage === "pretrain" ? averageAt(point, tasks, whole) : (ownValue(point.scores, task.id) ?? point.average),
      })),
    )
    .filter((point) => known(point.step) && known(point.score));
}

/** A plot of curves, one line per seed, in the style of the run. */
function curvePlot(points, rows, names, style, width, title, height = 300) {
  const own = rows.filter((row) => points.some((point) => point.row === row));
  const ending = (row) => `${names.get(row.id)} ends at ${finalScore(points.filter((point) => point.row === row))}`;
  const tip = ({ row, seed, step, score }) =>
    `${shortened(names.get(row.id), 60)}\nseed ${seed}, step ${step}: ${formatScore(score)}`;
  return plotImage(
    {
      width,
      height,
      marginLeft: 44,
      marginRight: 16,
      marginTop: 28,
      marginBottom: 42,
      x: { label: "training step", labelAnchor: "right", ticks: Math.max(3, Math.floor(width / 110)), nice: true },
      y: { label: scoreUnit, grid: true, nice: true, domain: domainOfConstant(points.map((point) => point.score)) },
      marks: [
        ...own.map((row) => {
          const { colour, dash } = style.get(row.id);
          const of = points.filter((point) => point.row === row);
          const lengths = new Set(of.map((point) => point.seed)).size;
          const single = of.length === lengths;
          return single
            ? Plot.dot(of, { x: "step", y: "score", r: 4, stroke: colour })
            : Plot.line(of, {
                x: "step",
                y: "score",
                z: "seed",
                stroke: colour,
                strokeWidth: 1.6,
                strokeOpacity: 0.85,
                strokeDasharray: dash,
              });
        }),
        Plot.tip(points, Plot.pointer({ x: "step", y: "score", title: tip })),
      ],
    },
    `${title}: ${own.map(ending).join("; ")}`,
  );
}

/** The last score, or its range over the seeds: "61.2", "60.1 to 62.4". */
function finalScore(points) {
  const last = new Map(points.map((point) => [point.seed, point.score]));
  const [low, high] = [Math.min(...last.values()), Math.max(...last.values())];
  return formatScore(low) === formatScore(high) ? formatScore(low) : `${formatScore(low)} to ${formatScore(high)}`;
}
