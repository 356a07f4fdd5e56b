// The notes below the table.

/** Draw the notes that explain the table with the current choices. */
function drawNotes(suite, choices, rows) {
  const tasks = shownTasks(suite, choices);
  const names = fullNames(suite);
  const own = rows.some((row) => row.details);
  const dev = ownSplits(rows).includes("dev");
  const published = rows.some((row) => row.source === "published");
  const partial = rows.filter((row) => known(row.average) && row.lacking.length);
  const averaged = averagedTasks(tasks);
  const publishedOn = publishedSplits(rows);
  const reduced = tasks.filter((task) => rows.some((row) => row.reduced?.includes(task.id)));
  const elsewhere = (row) => tasks.filter((task) => ownValue(row.apart, task.id)).map((task) => task.title);
  const apart = rows.filter((row) => elsewhere(row).length);
  const reference = suite.rows.find((row) => row.id === choices.reference);
  const visible = [
    `${scoreUnit.replace("score", "Scores")}; higher is better. ` +
      (averaged.length === tasks.length
        ? "AVG is the mean over the tasks shown."
        : `AVG is the mean over ${joinWithAnd(averaged.map((task) => task.title)) || "no task that is shown"}.`),
    reference && referenceNote(names.get(reference.id), choices, showsAverage(suite, tasks)),
  ];
  const folded = [
    rows.length > 1 &&
      "Bold is the best of a column" +
        (new Set(rows.map((row) => row.split)).size > 1 ? ", for each split separately, since they hold different data." : ".") +
        (partial.length || reduced.length || apart.length ? " Marked scores can only be compared with scores that have the same marks." : ""),
    own && "Own runs: the median over seeds, on the split that the row names.",
    dev && "dev is the validation data, which is also used to choose checkpoints and settings.",
    published &&
      `Published rows: as printed, ${publishedOn.length > 1 ? "on the split that the row names" : `on ${SPLITS[publishedOn[0]]}`}.` +
        (dev && publishedOn.includes("test") ? " Be careful when you compare scores on dev with scores on test." : ""),
    own && !reference && choices.spread === "range" && "Small numbers below a score: the lowest and the highest score over seeds.",
    own && !reference && choices.spread === "interval" && "Small numbers below a score: its 95 % CI." +
        (showsAverage(suite, tasks) ? "" : " The average has one only while none of its tasks is hidden."),
    ownValue(suite.ranked, "average") &&
      "Rank: the ranks by AVG that the tests with Holm's correction leave open; runs that no test separates share theirs. All hold at once with a probability of 95 %.",
    own && !reference && choices.spread === "rank" && "Small numbers below a score: the ranks in that column.",
    ...d3
      .groups(partial, (row) => joinWithAnd(row.lacking.map((task) => task.title)))
      .map(([lacking, of]) => `* Partial average, without ${lacking}: ${joinSome(of.map((row) => names.get(row.id)))}.`),
    reduced.length &&
      `† ${joinWithAnd(reduced.map((task) => task.title))}: the split sizes or the files differ from the published ones, or the scores are on a sample of the examples, so these scores are not ` +
        "comparable with published ones; an average with † includes such a task.",
    ...d3
      .groups(apart, (row) => joinWithAnd(elsewhere(row)))
      .map(([titles, of]) => `§ ${joinSome(of.map((row) => names.get(row.id)))}: scored on other examples of ${titles} than the other runs, so not comparable with them (no test against them, no rank).`),
    ...(suite.notes ?? []),
  ];
  const place = document.getElementById("notes");
  const open = place.querySelector("details")?.open;
  place.replaceChildren(
    h("h3", { class: "visually-hidden" }, "Notes"),
    noteList(visible),
    h("details", { open }, h("summary", { "data-key": "notes" }, "What the marks and numbers mean"), noteList(folded)),
  );
}

/** A list of notes. Of checksums, which tables of single runs have whole, the first digits. */
function noteList(notes) {
  const shown = notes.filter(Boolean).map((note) => note.replace(/\b[0-9a-f]{64}\b/g, (sum) => `${sum.slice(0, 8)}…`));
  return h("ul", {}, shown.map((note) => h("li", {}, note)));
}

function referenceNote(name, choices, whole) {
  const interval =
    choices.spread === "interval"
      ? " and its 95 % CI"
      : "; choose “95 % CI” under “Below a score” to see its interval";
  return (
    `Paired tests against ${name}: ▲ better, ▼ worse, ▲▲ and ▼▼ with Holm's correction too, ≈ not significant, ` +
    `? too few seeds; followed by the difference of the means over seeds${interval}.` +
    (whole ? "" : " The average is compared only while none of its tasks is hidden.")
  );
}
