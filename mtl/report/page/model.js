// What the page shows, derived from the report and from what the reader chose. No elements here.

const COSTS = [
  { id: "parameters", title: "Parameters", metric: "all", unit: "parameters", format: inCount },
  {
    id: "parameters_without_embeddings",
    title: "Parameters",
    metric: "without embeddings",
    unit: "parameters without embeddings",
    format: inCount,
  },
  { id: "pretrain_seconds", title: "Stage 1", metric: "time", unit: "time of stage 1", format: inSeconds },
  { id: "finetune_seconds", title: "Stage 2", metric: "time", unit: "time of stage 2", format: inSeconds },
  { id: "peak_memory", title: "Memory", metric: "peak", unit: "peak memory", format: inBytes },
  {
    id: "sentences_per_second",
    title: "Speed",
    metric: "sentences/s",
    unit: "sentences per second",
    format: inRate,
    descending: true,
  },
];

/** What a reader finds chosen: everything shown, best average first. */
function freshChoices(suite) {
  return {
    search: "",
    source: "",
    families: new Set(suite.rows.map((row) => row.family)),
    embeddings: "",
    size: "",
    hidden: new Set(),
    columns: "scores",
    spread: "range",
    reference: "",
    opened: new Set(),
    sorting: [{ id: "average", desc: true }],
  };
}

function shownTasks(suite, choices) {
  return suite.tasks.filter((task) => !choices.hidden.has(task.id));
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/** A row's median on a task, or null. */
function median(row, task) {
  return at(row.scores, task.id)?.median ?? null;
}

/** A row with its average over `tasks`, which are those shown: all of the suite's, or some. */
function overTasks(row, tasks, suite) {
  const whole = tasks.length === suite.tasks.length;
  const present = tasks.filter((task) => known(median(row, task)));
  const average = mean(present.map((task) => median(row, task)));
  return {
    ...row,
    average: whole ? (row.average ?? average) : average,
    average_interval: whole ? row.average_interval : null,
    average_range: averageRange(row, present),
    lacking: tasks.filter((task) => !present.includes(task)),
    other_sizes: tasks.filter((task) => row.reduced?.includes(task.id)),
  };
}

/** The least and the greatest of the seeds' averages over `tasks`, or null where there are not two seeds. */
function averageRange(row, tasks) {
  const seeds = (row.details?.seeds ?? [])
    .map((seed) => tasks.map((task) => at(seed.scores, task.id)))
    .filter((scores) => scores.length && scores.every(known))
    .map(mean);
  return seeds.length > 1 ? [Math.min(...seeds), Math.max(...seeds)] : null;
}

function matches(row, choices) {
  const words = choices.search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.label} ${row.name}`.toLowerCase();
  return (
    choices.families.has(row.family) &&
    (!choices.source || row.source === choices.source) &&
    (!choices.embeddings || (row.embeddings ?? "none") === choices.embeddings) &&
    (!choices.size || String(row.size ?? "none") === choices.size) &&
    words.every((word) => text.includes(word))
  );
}

/** What makes a value not comparable with the others: a partial average, other split sizes. "" where nothing does. */
function caveat(row, column) {
  const ids = (tasks) => tasks.map((task) => task.id).join();
  if (column === "average")
    return row.lacking.length || row.other_sizes.length ? `${ids(row.lacking)};${ids(row.other_sizes)}` : "";
  return row.reduced?.includes(column.id) ? column.id : "";
}

/** The least and the greatest of an own run's seeds, or null where they are one or not known. */
function rangeOf(row, column) {
  if (row.source !== "run") return null;
  if (column === "average") return row.average_range;
  const score = at(row.scores, column.id);
  return known(score?.min) && score.min < score.max ? [score.min, score.max] : null;
}

function intervalOf(row, column) {
  return (column === "average" ? row.average_interval : at(row.scores, column.id)?.interval) ?? null;
}

/** The signs of a value's caveats, which the notes explain. */
function marksOf(row, column) {
  const average = column === "average";
  const reduced = average ? row.other_sizes.length > 0 : row.reduced?.includes(column.id);
  return `${average && row.lacking.length ? "*" : ""}${reduced ? "†" : ""}`;
}

function valueOf(row, column) {
  return column === "average" ? row.average : median(row, column);
}

/**
 * The best value among rows of one split, to the digit that is shown; null where no two values compare.
 * Values with a caveat compare only where every row has the same one. (Leaderboard.is_best has the same rule.)
 */
function best(rows, column) {
  const scored = rows.filter((row) => known(valueOf(row, column)));
  const clean = scored.filter((row) => !caveat(row, column));
  const compared = clean.length ? clean : scored;
  if (compared.length < 2 || new Set(compared.map((row) => caveat(row, column))).size !== 1) return null;
  return {
    text: inScore(Math.max(...compared.map((row) => valueOf(row, column)))),
    caveat: caveat(compared[0], column),
  };
}

function isBest(found, row, column) {
  const value = valueOf(row, column);
  return Boolean(found) && known(value) && inScore(value) === found.text && caveat(row, column) === found.caveat;
}

/** The paired tests of one run against another, by task id and "average", or null where there are none. */
function paired(suite, id, reference) {
  const direct = at(suite.comparisons, `${id}|${reference}`);
  if (direct) return direct;
  const inverse = at(suite.comparisons, `${reference}|${id}`);
  if (!inverse) return null;
  const turned = { better: "worse", worse: "better" };
  return Object.fromEntries(
    Object.entries(inverse).map(([task, test]) => [
      task,
      {
        difference: -test.difference,
        low: known(test.high) ? -test.high : null,
        high: known(test.low) ? -test.low : null,
        p: test.p,
        p_holm: test.p_holm,
        verdict: turned[test.verdict] ?? test.verdict,
        verdict_holm: turned[test.verdict_holm] ?? test.verdict_holm,
      },
    ]),
  );
}

/** What rows are called outside the table, by row id: the label, and more where several rows have the same. */
function fullNames(suite) {
  const count = d3.rollup(
    suite.rows,
    (rows) => rows.length,
    (row) => row.label,
  );
  return new Map(
    suite.rows.map((row) => [
      row.id,
      count.get(row.label) > 1 ? `${row.label} (${row.source === "published" ? "published" : row.name})` : row.label,
    ]),
  );
}
