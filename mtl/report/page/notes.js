// The notes below the table.

/** What one must know to read the table, as it stands now. */
function drawNotes(suite, choices, rows) {
  const tasks = shownTasks(suite, choices);
  const names = fullNames(suite);
  const own = rows.some((row) => row.source === "run");
  const published = rows.some((row) => row.source === "published");
  const partial = rows.filter((row) => row.lacking.length);
  const reduced = tasks.filter((task) => rows.some((row) => row.reduced?.includes(task.id)));
  const reference = suite.rows.find((row) => row.id === choices.reference);
  const notes = [
    "Scores × 100; higher is better. AVG is the mean over the tasks shown.",
    rows.length > 1 &&
      "Bold is the best of a column" +
        (own && published
          ? ", among own runs and among published rows separately: they are scored on different data."
          : ".") +
        (partial.length || reduced.length ? " Marked scores compare only with those marked for the same reason." : ""),
    own && "dev: own runs, the median over seeds on the validation data, on which checkpoints and settings were chosen too.",
    published &&
      "test: published rows, as printed, on the test data, whose labels are not public." +
        (own ? " Compare dev with test rows with care." : ""),
    own && !reference && choices.spread === "range" && "Small below a score: the least and the greatest over seeds.",
    own && !reference && choices.spread === "interval" && "Small below a score: its 95 % interval." +
        (choices.hidden.size ? " The average has one only while no task is hidden." : ""),
    reference && referenceNote(names.get(reference.id), choices),
    ...d3
      .groups(partial, (row) => inWords(row.lacking.map((task) => task.title)))
      .map(([lacking, of]) => `* Partial average, without ${lacking}: ${inWords(of.map((row) => names.get(row.id)))}.`),
    reduced.length &&
      `† ${inWords(reduced.map((task) => task.title))}: other split sizes than the published ones, not comparable ` +
        "with them; an average with † includes such a task.",
    ...(suite.notes ?? []),
  ].filter(Boolean);
  document.getElementById("notes").replaceChildren(
    h("h3", { class: "spoken" }, "Notes"),
    h(
      "ul",
      {},
      notes.map((note) => h("li", {}, note)),
    ),
  );
}

function referenceNote(name, choices) {
  const interval =
    choices.spread === "interval"
      ? " and its 95 % interval"
      : "; its 95 % interval shows with that choice below a score";
  return (
    `Against ${name}, in a paired test: ▲ better, ▼ worse, ▲▲ and ▼▼ with Holm's correction too, ≈ undecided, ` +
    `? too few seeds; then the difference of the means over seeds${interval}.` +
    (choices.hidden.size ? " The average is compared only while no task is hidden." : "")
  );
}
