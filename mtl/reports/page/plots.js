// All plots below the table.

/** The default choices in the plots. They are kept when the plots are redrawn. */
function defaultPlotChoices() {
  return { cost: "", task: "" };
}

/** Draw all plots of the rows that the table shows. */
function drawPlots(suite, choices, plotChoices, rows) {
  const place = document.getElementById("figures");
  const scene = {
    suite,
    rows,
    tasks: shownTasks(suite, choices),
    names: fullNames(suite),
    style: runStyles(suite),
    choices: plotChoices,
    width: place.clientWidth,
    redraw: () => drawPlots(suite, choices, plotChoices, rows),
  };
  keepingFocus(() => place.replaceChildren(scoreFigures(scene), costFigure(scene), ...curveFigures(scene)));
}

/** The learning curves of both stages, of the rows that have them. */
function curveFigures(scene) {
  const { suite, rows, tasks, names, style, width, choices } = scene;
  const own = rows.filter((row) => row.details?.curves?.length);
  const whole = tasks.length === suite.tasks.length;
  const points = (stage, task) => own.flatMap((row) => curvePoints(row, stage, task, tasks, whole));
  const curvesFigure = (found, title) => {
    const shown = own.filter((row) => found.some((point) => point.row === row));
    return figure(title, curvePlot(found, shown, names, style, width, title), lineLegend(shown, names, style));
  };
  const first = points("pretrain");
  const second = tasks.filter((task) => points("finetune", task).length);
  const task = second.find(({ id }) => id === choices.task) ?? second[0];
  const none = h("p", {}, "No row shown has learning curves of this stage for these tasks.");
  return [
    h(
      "section",
      { "aria-labelledby": "stage1-title" },
      h("h3", { id: "stage1-title" }, "Learning curves, stage 1: all tasks together"),
      first.length
        ? curvesFigure(first, "Average on the validation data by training step, one line per seed")
        : none.cloneNode(true),
    ),
    h(
      "section",
      { "aria-labelledby": "stage2-title" },
      h("h3", { id: "stage2-title" }, "Learning curves, stage 2: each task alone"),
      task &&
        selectField(
          "Task",
          "plot:task",
          second.map(({ id, title }) => [id, title]),
          task.id,
          (id) => {
            choices.task = id;
            scene.redraw();
          },
        ),
      task
        ? curvesFigure(
            points("finetune", task),
            `${task.title} on the validation data by training step (0: after stage 1), one line per seed`,
          )
        : none,
    ),
  ];
}
