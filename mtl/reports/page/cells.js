// The cells of the table.

const VERDICTS = { better: "▲", worse: "▼", undecided: "≈", "too few seeds": "?" };
const MARKS = { "*": " partial", "†": " other data", "‡": " training rows seen", "§": " other examples" };
const RELATIONS = { undecided: "not significantly different from", "too few seeds": "too few seeds to compare with" };

/** A score or an average with its marks; below it, its spread or the verdict of the paired test. */
function scoreCell(row, column, emphasised, below) {
  const value = valueOf(row, column);
  if (!known(value)) return h("td", { class: "number" }, labelledSymbol(MISSING, "no score"));
  const average = column === "average";
  return h(
    "td",
    { class: average ? "number average" : "number" },
    h("span", { class: emphasised ? "score best" : "score" }, formatScore(value), emphasised && screenReaderText(" (best)")),
    [...marksOf(row, column)].map((mark) => labelledSymbol(mark, MARKS[mark])),
    below,
  );
}

/** The range over seeds, the interval or the rank of a score; null if it is not known, or if the ends of the first two are equal. */
function spreadOf(row, column, spread) {
  if (spread === "none") return null;
  if (spread === "rank") {
    const rank = rankOf(row, column);
    return rank && h("span", { class: "spread" }, screenReaderText(" rank "), `#${rankText(rank)}`);
  }
  const shown = spread === "range" ? rangeOf(row, column) : intervalOf(row, column);
  if (!shown || formatScore(shown[0]) === formatScore(shown[1])) return null;
  return h(
    "span",
    { class: "spread" },
    screenReaderText(spread === "range" ? " seeds: " : " 95 % CI: "),
    formatRange(...shown),
  );
}

/** The verdict of the paired test of a score against the reference's; its interval is visible if `spread` is "interval". */
function verdictOf(test, reference, spread) {
  if (!test) return null;
  const interval = known(test.low) && known(test.high) ? `${formatScore(test.low)} to ${formatScore(test.high)}` : null;
  const decided = test.verdict === "better" || test.verdict === "worse";
  const holds = decided && test.verdict_holm === test.verdict;
  const words =
    `${RELATIONS[test.verdict] ?? `${test.verdict} than`} ${reference}` +
    (holds ? ", with Holm's correction too" : decided ? ", not with Holm's correction" : "");
  const numbers = [
    formatDifference(test.difference),
    interval && `95 % CI ${interval}`,
    known(test.p) && `p ${formatProbability(test.p)}`,
    known(test.p) && `better with a probability of ${formatShare(test.difference > 0 ? 1 - test.p / 2 : test.p / 2)}`,
    known(test.p_holm) && `with Holm's correction ${formatProbability(test.p_holm)}`,
  ];
  return h(
    "span",
    {
      class: `verdict ${decided ? test.verdict : ""}`,
      title: `${words}: ${numbers.filter(Boolean).join(", ")}`,
    },
    labelledSymbol((VERDICTS[test.verdict] ?? "").repeat(holds ? 2 : 1), ` ${words}: `),
    ` ${formatDifference(test.difference)}`,
    interval && h("span", { class: spread === "interval" ? "spread" : "visually-hidden" }, screenReaderText(" 95 % CI: "), interval),
  );
}

function rankCell(row) {
  const rank = row.average_rank;
  return h("td", { class: "number" }, rank ? (rank[0] < rank[1] ? "tied " : "") + rankText(rank) : labelledSymbol(MISSING, "no rank"));
}

function costCell(row, cost) {
  const value = row.cost?.[cost.id];
  return h("td", { class: "number" }, known(value) ? cost.format(value) : labelledSymbol(MISSING, "not known"));
}

function splitCell(row) {
  return h(
    "td",
    {},
    h(
      "span",
      {
        class: `split ${row.source}`,
        title: row.source === "run" ? `${ownNoun}, scored on ${row.split}` : `published, scored on ${row.split}`,
      },
      row.split,
    ),
  );
}

/** The row's name; if the row has details, a button that opens it. */
function modelCell(row, opened, remark, toggle) {
  const under = [
    row.source === "run" && row.name !== row.label && row.name,
    known(row.size) && `${row.size} units`,
    row.details?.seeds?.length > 0 && withCount(row.details.seeds.length, "seed"),
    remark,
  ]
    .filter(Boolean)
    .join(" · ");
  const name = h(
    "span",
    { class: "label", title: row.label },
    row.page ? h("a", { href: row.page, "data-key": `page:${row.id}` }, row.label) : row.label,
  );
  return h(
    "th",
    { scope: "row", class: "model" },
    row.details
      ? h(
          "button",
          {
            type: "button",
            class: "opener",
            "aria-expanded": String(opened),
            "aria-controls": opened ? `panel-${row.id}` : null,
            "data-key": `open:${row.id}`,
            onclick: toggle,
          },
          h("span", { class: "chevron", "aria-hidden": "true" }, opened ? "▾" : "▸"),
          name,
        )
      : h("span", { class: "closed" }, name),
    under && h("span", { class: "under", title: under }, under),
  );
}
