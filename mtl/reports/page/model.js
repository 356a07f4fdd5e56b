// The data that the page shows, computed from the report and the user's choices. This file creates no elements.

const COSTS = [
  { id: "parameters", title: "Parameters", metric: "all", unit: "parameters", format: formatCount },
  {
    id: "parameters_without_embeddings",
    title: "Parameters",
    metric: "without embeddings",
    unit: "parameters without embeddings",
    format: formatCount,
  },
  { id: "pretrain_seconds", title: "Stage 1", metric: "time", unit: "time of stage 1", format: formatSeconds },
  { id: "finetune_seconds", title: "Stage 2", metric: "time", unit: "time of stage 2", format: formatSeconds },
  { id: "peak_memory", title: "Memory", metric: "peak", unit: "peak memory", format: formatBytes },
  {
    id: "sentences_per_second",
    title: "Speed",
    metric: "sentences/s",
    unit: "sentences per second",
    format: formatRate,
    descending: true,
  },
  { id: "seconds_per_task", title: "Evaluation", metric: "time a task", unit: "time of evaluation for each task", format: formatSeconds },
  { id: "memory", title: "Memory", metric: "weights", unit: "memory of the weights", format: formatBytes },
  { id: "dim", title: "Vectors", metric: "size", unit: "size of a vector", format: formatCount },
];

/** The costs that the suite's rows have a place for. */
function costsOf(suite) {
  return COSTS.filter((cost) => suite.rows.some((row) => row.cost && Object.hasOwn(row.cost, cost.id)));
}

/** The default choices: everything is shown, the best average first. */
function defaultChoices(suite) {
  return {
    search: "",
    source: "",
    families: new Set(suite.rows.map((row) => row.family)),
    embeddings: "",
    size: "",
    rank: "",
    hidden: new Set(),
    columns: "scores",
    spread: suite.rows.some((row) => row.details) ? "range" : "interval",
    reference: bestBaseline(suite)?.id ?? "",
    opened: new Set(),
    page: 0,
    order: "",
    sorting: [{ id: "average", desc: true }],
  };
}

/** The runs that others can be compared with: all, or where not every pair was tested, those that every run was tested against. */
function references(suite) {
  const own = suite.rows.filter((row) => row.source === "run");
  return suite.references?.length ? own.filter((row) => suite.references.includes(row.id)) : own;
}

/** The simple baseline with the best average over the most tasks, if a run was tested against it. */
function bestBaseline(suite) {
  const tested = new Set(Object.keys(suite.comparisons ?? {}).flatMap((pair) => pair.split("|")));
  const offered = references(suite).filter((row) => row.family === "floor" && known(row.average) && tested.has(row.id));
  return d3.greatest(offered, (a, b) => d3.ascending(Object.keys(a.scores).length, Object.keys(b.scores).length) || d3.ascending(a.average, b.average));
}

/** The suite's task with this id. */
function taskOf(suite, id) {
  return suite.tasks.find((task) => task.id === id) ?? { id, title: id };
}

const PAGE = 100; // rows of the table at a time

/**
 * Those of the sorted rows that the chosen page shows, and the number of the first. When the rows or their order change, the first page
 * is chosen.
 */
function pageOf(rows, choices) {
  const order = rows.map((row) => row.id).join();
  if (order !== choices.order) Object.assign(choices, { order, page: 0 });
  const first = choices.page * PAGE;
  return { first, shown: rows.slice(first, first + PAGE) };
}

function shownTasks(suite, choices) {
  return suite.tasks.filter((task) => !choices.hidden.has(task.id));
}

/** Whether all tasks that the suite's average is over are among those shown. */
function showsAverage(suite, shown) {
  return averagedTasks(suite.tasks).every((task) => shown.includes(task));
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/** The mean of `value(task)` over tasks; those that the suite counts as one task count together once. */
function meanOverTasks(tasks, value) {
  const groups = [...d3.group(tasks, (task) => task.average_group).values()];
  return mean(groups.map((same) => mean(same.map(value))));
}

/** A row's median on a task, or null. */
function median(row, task) {
  return ownValue(row.scores, task.id)?.median ?? null;
}

/** Those of `tasks` that the suite's average counts. */
function averagedTasks(tasks) {
  return tasks.filter((task) => task.averaged);
}

/** What a task is a version of, where a suite has a task on several versions of its rows: a row has a score on one of them. */
function versionOf(task) {
  return task.version_of ?? task.id;
}

/** A row with its average over those of `tasks`, the tasks shown, that the suite's average counts: all of them, or some. */
function withAverageOver(row, tasks, suite) {
  const averaged = averagedTasks(tasks);
  const whole = showsAverage(suite, tasks);
  const present = averaged.filter((task) => known(median(row, task)));
  const scored = new Set(present.map(versionOf));
  const lacking = [...averaged.filter((task) => !scored.has(versionOf(task))), ...(whole ? (suite.unscored ?? []) : [])];
  // Beside published rows, an own row without some of the tasks has no average.
  const none = suite.whole_averages && row.source === "run" && lacking.length > 0;
  const average = none ? null : meanOverTasks(present, (task) => median(row, task));
  return {
    ...row,
    average: whole ? (row.average ?? average) : average,
    average_interval: whole ? row.average_interval : null,
    average_range: averageRange(row, present),
    average_rank: (whole && ownValue(row.ranks, "average")) || null,
    lacking,
    other_sizes: averaged.filter((task) => row.reduced?.includes(task.id)),
    elsewhere: averaged.filter((task) => ownValue(row.apart, task.id)),
    trained_on: averaged.filter((task) => row.seen?.includes(task.id)),
  };
}

/** The lowest and the highest of the seeds' averages over `tasks`; null if there are fewer than two seeds. */
function averageRange(row, tasks) {
  const seeds = (row.details?.seeds ?? [])
    .filter((seed) => tasks.length && tasks.every((task) => known(ownValue(seed.scores, task.id))))
    .map((seed) => meanOverTasks(tasks, (task) => ownValue(seed.scores, task.id)));
  return seeds.length > 1 ? [Math.min(...seeds), Math.max(...seeds)] : null;
}

function matches(row, choices) {
  const words = choices.search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.label} ${row.name}`.toLowerCase();
  return (
    choices.families.has(row.family) &&
    (!choices.source || row.source === choices.source) &&
    (!choices.embeddings || (row.embeddings ?? "none") === choices.embeddings) &&
    (!choices.rank || row.average_rank?.[0] === 1) &&
    (!choices.size || String(row.size ?? "none") === choices.size) &&
    words.every((word) => text.includes(word))
  );
}

/** Why a value is not comparable with others (a partial average, other data, other examples, training rows seen), as a key; "" if it is comparable. */
function caveat(row, column) {
  const ids = (tasks) => tasks.map((task) => task.id).join();
  if (column === "average")
    return row.lacking.length || row.other_sizes.length || row.trained_on.length || row.elsewhere.length
      ? `${ids(row.lacking)};${ids(row.other_sizes)};${ids(row.trained_on)};${row.elsewhere.map((task) => ownValue(row.apart, task.id)).join()}`
      : "";
  const reasons = [row.reduced?.includes(column.id) && "reduced", ownValue(row.apart, column.id), row.seen?.includes(column.id) && "seen"].filter(Boolean);
  return reasons.length ? `${column.id};${reasons.join()}` : "";
}

/** The lowest and the highest score over an own run's seeds; null if they are equal or not known. */
function rangeOf(row, column) {
  if (row.source !== "run") return null;
  if (column === "average") return row.average_range;
  const score = ownValue(row.scores, column.id);
  return known(score?.min) && score.min < score.max ? [score.min, score.max] : null;
}

function intervalOf(row, column) {
  return (column === "average" ? row.average_interval : ownValue(row.scores, column.id)?.interval) ?? null;
}

/** The interval of a row's rank in a column; null if it was not tested against all others there. */
function rankOf(row, column) {
  return (column === "average" ? row.average_rank : ownValue(row.ranks, column.id)) ?? null;
}

/** The marks *, †, ‡ and § of a value's caveats, which the notes explain. */
function marksOf(row, column) {
  const average = column === "average";
  const reduced = average ? row.other_sizes.length > 0 : row.reduced?.includes(column.id);
  const seen = average ? row.trained_on.length > 0 : row.seen?.includes(column.id);
  const partial = average ? row.lacking.length > 0 : row.partial_groups?.includes(column.id);
  const apart = average ? row.elsewhere.length > 0 : ownValue(row.apart, column.id);
  return `${partial ? "*" : ""}${reduced ? "†" : ""}${seen ? "‡" : ""}${apart ? "§" : ""}`;
}

/** The split that a score is on, or the splits of an average. */
function splitOf(row, column) {
  return column === "average" ? row.average_split : ownValue(row.scores, column.id)?.split;
}

/** The splits that own runs are scored on. */
function ownSplits(rows) {
  return splitsOf(rows, "run");
}

/** The splits that published rows are scored on. */
function publishedSplits(rows) {
  return splitsOf(rows, "published");
}

function splitsOf(rows, source) {
  const splits = rows.filter((row) => row.source === source).flatMap((row) => row.split.split(", "));
  return [...new Set(splits)].sort();
}

function valueOf(row, column) {
  return column === "average" ? row.average : median(row, column);
}

/**
 * The best value among rows of one split, rounded as shown; null if no two values can be compared.
 * Values with a caveat are compared only if every row has the same caveat. (Leaderboard.is_best has the same rule.)
 */
function best(rows, column) {
  const scored = rows.filter((row) => known(valueOf(row, column)));
  const clean = scored.filter((row) => !caveat(row, column));
  const compared = clean.length ? clean : scored;
  if (compared.length < 2 || new Set(compared.map((row) => caveat(row, column))).size !== 1) return null;
  return {
    text: formatScore(Math.max(...compared.map((row) => valueOf(row, column)))),
    caveat: caveat(compared[0], column),
  };
}

function isBest(found, row, column) {
  const value = valueOf(row, column);
  return Boolean(found) && known(value) && formatScore(value) === found.text && caveat(row, column) === found.caveat;
}

/** The paired tests of one run against another, by task id and "average"; null if there are none. */
function pairedTests(suite, id, reference) {
  const direct = ownValue(suite.comparisons, `${id}|${reference}`);
  if (direct) return direct;
  const inverse = ownValue(suite.comparisons, `${reference}|${id}`);
  if (!inverse) return null;
  const inverted = { better: "worse", worse: "better" };
  return Object.fromEntries(
    Object.entries(inverse).map(([task, test]) => [
      task,
      {
        difference: -test.difference,
        low: known(test.high) ? -test.high : null,
        high: known(test.low) ? -test.low : null,
        p: test.p,
        p_holm: test.p_holm,
        verdict: inverted[test.verdict] ?? test.verdict,
        verdict_holm: inverted[test.verdict_holm] ?? test.verdict_holm,
      },
    ]),
  );
}

/**
 * The names of rows outside the table, by row id: the label, and if several rows have the same label, the run's name, or that a row is
 * published, with its split if the published rows are on several.
 */
function fullNames(suite) {
  const several = publishedSplits(suite.rows).length > 1;
  const origin = (row) => (row.source === "published" ? `published${several ? `, ${row.split}` : ""}` : row.name);
  const count = d3.rollup(
    suite.rows,
    (rows) => rows.length,
    (row) => row.label,
  );
  return new Map(
    suite.rows.map((row) => [
      row.id,
      count.get(row.label) > 1 ? `${row.label} (${origin(row)})` : row.label,
    ]),
  );
}
