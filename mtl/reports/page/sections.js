// The tables below the notes: scores by metric, scores on parts of the rows, and the spread over settings.

/** The default choices in these tables. They are kept when the tables are redrawn. */
function defaultSectionChoices() {
  return { group: "0", breakdown: "0" };
}

/** Draw the tables of the rows that the table of scores shows. */
function drawSections(suite, choices, rows) {
  const names = fullNames(suite);
  const redraw = () => keepingFocus(() => drawSections(suite, choices, rows));
  const sections = [
    groupSection(suite, choices, rows, names, redraw),
    breakdownSection(suite, choices, rows, names, redraw),
    settingsSection(suite),
  ].filter(Boolean);
  const place = document.getElementById("sections");
  place.hidden = !sections.length;
  place.replaceChildren(...sections);
}

/** A select for one of several tables, and the table; `draw` creates the table with this index. */
function choiceOfTables(label, key, titles, choices, redraw, draw) {
  const field =
    titles.length > 1 &&
    selectField(
      label,
      `section:${key}`,
      titles.map((title, index) => [String(index), title]),
      choices[key],
      (value) => {
        choices[key] = value;
        redraw();
      },
    );
  return [field, draw(Number(choices[key]))];
}

function groupSection(suite, choices, rows, names, redraw) {
  const groups = suite.groups ?? [];
  if (!groups.length) return null;
  const table = (index) => {
    const { title, tasks, titles: columns, rows: scores } = groups[index];
    const shown = rows.filter((row) => ownValue(scores, row.id));
    const several = tasks.length > 1;
    return sectionTable(
      `${suite.title}: ${title}`,
      ["", ...(several ? ["mean"] : []), ...tasks.map((id) => ownValue(columns, id) ?? taskOf(suite, id).title)],
      shown.map((row) => {
        const found = ownValue(scores, row.id);
        const cells = tasks.map((id) => {
          const score = ownValue(found.scores, id);
          return score && `${formatScore(score.median)}${marksOf(row, { id })}`;
        });
        const marks = new Set(tasks.flatMap((id) => [...marksOf(row, { id })]));
        const average = known(found.mean) && `${formatScore(found.mean)}${[...marks].join("")}`;
        return [names.get(row.id), ...(several ? [average] : []), ...cells];
      }),
    );
  };
  const titles = groups.map((group) => group.title);
  return h(
    "section",
    { "aria-labelledby": "groups-title" },
    h(
      "h3",
      { id: "groups-title" },
      suite.groups_title ?? (groups.length > 1 ? "Scores by one metric" : `Scores by one metric: ${titles[0]}`),
    ),
    h(
      "p",
      { class: "quiet" },
      suite.groups_note ?? "Medians over seeds, and their mean where a row has all of these tasks.",
    ),
    ...choiceOfTables("Metric", "group", titles, choices, redraw, table),
  );
}

function breakdownSection(suite, choices, rows, names, redraw) {
  const breakdowns = suite.breakdowns ?? [];
  if (!breakdowns.length) return null;
  const titles = breakdowns.map((breakdown) => `${taskOf(suite, breakdown.task).title} by ${breakdown.column}`);
  const table = (index) => {
    const { parts, counted, metric, rows: scores, left_out: leftOut } = breakdowns[index];
    const shown = rows.filter((row) => ownValue(scores, row.id));
    return [
      sectionTable(
        `${titles[index]}, ${metric}`,
        ["", counted, ...shown.map((row) => names.get(row.id))],
        parts.map((part, place) => [
          part.value,
          String(part.count),
          ...shown.map((row) => formatScore(ownValue(scores, row.id)[place])),
        ]),
      ),
      leftOut > 0 && h("p", { class: "quiet" }, `Less frequent values, not shown: ${leftOut}.`),
    ];
  };
  return h(
    "section",
    { "aria-labelledby": "breakdowns-title" },
    h("h3", { id: "breakdowns-title" }, "Scores on parts of the rows"),
    h(
      "p",
      { class: "quiet" },
      `${titles.length === 1 ? `${titles[0]}, ${breakdowns[0].metric}. ` : ""}Medians over seeds. A row with several values counts for each of them.`,
    ),
    ...choiceOfTables("Task and column", "breakdown", titles, choices, redraw, table).flat().filter(Boolean),
  );
}

function settingsSection(suite) {
  const spreads = suite.settings ?? [];
  if (!spreads.length) return null;
  const tasks = suite.tasks.filter((task) => spreads.some((spread) => known(ownValue(spread.deviations, task.id))));
  const number = (value) => known(value) && formatScore(value);
  return h(
    "section",
    { "aria-labelledby": "settings-title" },
    h("h3", { id: "settings-title" }, "Spread over settings"),
    h(
      "p",
      { class: "quiet" },
      "The population standard deviation of the dev scores of a model's settings (each the median over its seeds); " +
        "AVG is its mean over the tasks of the average.",
    ),
    sectionTable(
      "Spread over settings",
      ["", "settings", "AVG", ...tasks.map((task) => task.title)],
      spreads.map((spread) => [
        spread.title,
        String(spread.settings),
        number(spread.average),
        ...tasks.map((task) => number(ownValue(spread.deviations, task.id))),
      ]),
    ),
    h(
      "ul",
      { class: "quiet" },
      spreads.map((spread) => h("li", {}, `${spread.title}: the settings differ in ${joinWithAnd(spread.keys)}.`)),
    ),
  );
}

/** A table of texts; the first cell of a row is its header, and a cell without a text is missing. */
function sectionTable(caption, header, body) {
  return h(
    "div",
    { class: "scroller", role: "region", tabindex: "0", "aria-label": caption },
    h(
      "table",
      { class: "section" },
      h("caption", { class: "visually-hidden" }, caption),
      h("thead", {}, h("tr", {}, header.map((title, place) => h("th", { scope: "col", class: place ? "number" : null }, title)))),
      h(
        "tbody",
        {},
        body.map(([name, ...cells]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            cells.map((cell) => h("td", { class: "number" }, cell || labelledSymbol(MISSING, "no score"))),
          ),
        ),
      ),
    ),
  );
}
