// The cells of the table.

const VERDICTS = { better: "▲", worse: "▼", undecided: "≈", "too few seeds": "?" };
const RELATIONS = { undecided: "undecided against", "too few seeds": "too few seeds to compare with" };

/** A score or an average, with its marks, and below it its spread or what the paired test says. */
function scoreCell(row, column, emphasised, below) {
  const value = valueOf(row, column);
  if (!known(value)) return h("td", { class: "number" }, sign(MISSING, "no score"));
  const average = column === "average";
  return h(
    "td",
    { class: average ? "number average" : "number" },
    h("span", { class: emphasised ? "score best" : "score" }, inScore(value), emphasised && spoken(" (best)")),
    [...marksOf(row, column)].map((mark) => sign(mark, mark === "*" ? " partial" : " other split sizes")),
    below,
  );
}

/** The seeds' range or the interval of a score, where it is known and no point. */
function spreadOf(row, column, spread) {
  if (spread === "none") return null;
  const shown = spread === "range" ? rangeOf(row, column) : intervalOf(row, column);
  if (!shown || inScore(shown[0]) === inScore(shown[1])) return null;
  return h(
    "span",
    { class: "spread" },
    spoken(spread === "range" ? " seeds: " : " 95 % interval: "),
    inRange(...shown),
  );
}

/** What the paired test says of a score against the reference's; its interval is seen where `spread` asks for one. */
function verdictOf(test, reference, spread) {
  if (!test) return null;
  const interval = known(test.low) && known(test.high) ? `${inScore(test.low)} to ${inScore(test.high)}` : null;
  const decided = test.verdict === "better" || test.verdict === "worse";
  const holds = decided && test.verdict_holm === test.verdict;
  const words =
    `${RELATIONS[test.verdict] ?? `${test.verdict} than`} ${reference}` +
    (holds ? ", with Holm's correction too" : decided ? ", not with Holm's correction" : "");
  const numbers = [
    inDifference(test.difference),
    interval && `95 % interval ${interval}`,
    known(test.p) && `p ${inProbability(test.p)}`,
    known(test.p_holm) && `with Holm's correction ${inProbability(test.p_holm)}`,
  ];
  return h(
    "span",
    {
      class: `verdict ${decided ? test.verdict : ""}`,
      title: `${words}: ${numbers.filter(Boolean).join(", ")}`,
    },
    sign((VERDICTS[test.verdict] ?? "").repeat(holds ? 2 : 1), ` ${words}: `),
    ` ${inDifference(test.difference)}`,
    interval && h("span", { class: spread === "interval" ? "spread" : "spoken" }, spoken(" 95 % interval: "), interval),
  );
}

function costCell(row, cost) {
  const value = row.cost?.[cost.id];
  return h("td", { class: "number" }, known(value) ? cost.format(value) : sign(MISSING, "not known"));
}

function splitCell(row) {
  return h(
    "td",
    {},
    h(
      "span",
      {
        class: `split ${row.source}`,
        title: row.source === "run" ? "own run, scored on the validation data" : "published, scored on the test data",
      },
      row.split,
    ),
  );
}

/** The row's name: a button that opens it where there is more to see. */
function modelCell(row, opened, remark, toggle) {
  const under = [
    row.source === "run" && row.name !== row.label && row.name,
    known(row.size) && `${row.size} units`,
    row.details?.seeds?.length > 0 && counted(row.details.seeds.length, "seed"),
    remark,
  ]
    .filter(Boolean)
    .join(" · ");
  const name = h("span", { class: "label", title: row.label }, row.label);
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
