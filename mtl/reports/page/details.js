// The panel of an opened row: all details of a run.

/** The content of an opened row; `width`: of the table, in pixels. */
function detailPanel(suite, row, width) {
  const { details } = row;
  const style = new Map([[row.id, { colour: "var(--own)", dash: "none" }]]);
  const names = fullNames(suite);
  const inner = Math.min(Math.max(width - 48, 260), 560);
  const section = (title, ...content) => h("section", {}, h("h4", {}, title), ...content);
  return h(
    "div",
    { class: "panel", "data-panel": row.id },
    h("h3", {}, row.label, row.name !== row.label && h("span", { class: "quiet" }, ` ${row.name}`)),
    h(
      "div",
      { class: "sections" },
      details.seeds?.length > 0 && section("Scores by seed", seedTable(suite, row)),
      rankSection(suite, row, section),
      taskSection(suite, row, names, style, inner, section),
      stageSection(suite, row, names, style, inner, section),
      row.cost && section("Cost", costTable(row)),
      details.machine && section("Machine", h("p", {}, details.machine)),
      versionSection(details, section),
      details.command && section("Command", copyableCommand(row, details.command)),
      inputSection(details, section),
      configSection(suite, row, section),
    ),
    !details.config && h("p", { class: "quiet" }, "This run's configuration and learning curves are not on this page, but in its folder."),
  );
}

/** The mean over seeds with their standard deviation, as a cell. */
function meanCell(values) {
  const scores = values.filter(known);
  if (scores.length < 2) return h("td", { class: "number" }, labelledSymbol(MISSING, "needs two seeds"));
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
  return h("td", { class: "number" }, `${formatScore(mean)} ± ${formatScore(Math.sqrt(squares / (scores.length - 1)))}`);
}

/** A table with a row for each task and a column for each seed, so that it fits on a narrow screen. */
function seedTable(suite, row) {
  const { seeds } = row.details;
  const number = (value) => h("td", { class: "number" }, known(value) ? formatScore(value) : labelledSymbol(MISSING, "no score"));
  const interval = (pair) => h("td", { class: "number" }, pair ? formatRange(...pair) : labelledSymbol(MISSING, "not known"));
  const line = (title, values, middle, pair) =>
    h("tr", {}, h("th", { scope: "row" }, title), values.map(number), number(middle), meanCell(values), interval(pair));
  const tasks = suite.tasks.filter((task) => known(median(row, task)));
  return h(
    "div",
    { class: "scroller", role: "region", tabindex: "0", "aria-label": "Scores by seed" },
    h(
      "table",
      { class: "seeds" },
      h("caption", { class: "visually-hidden" }, `${row.label}: scores by task and seed`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Task ╲ seed"),
          [...seeds.map((seed) => [screenReaderText("seed "), String(seed.seed)]), "median", "mean ± SD", "95 % CI"].map((title) =>
            h("th", { scope: "col", class: "number" }, title),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        tasks.map((task) =>
          line(
            task.title,
            seeds.map((seed) => ownValue(seed.scores, task.id)),
            median(row, task),
            ownValue(row.scores, task.id).interval,
          ),
        ),
        line(
          "AVG (mean)",
          seeds.map((seed) => seed.average),
          row.average,
          row.average_interval,
        ),
      ),
    ),
  );
}

/** The interval of the run's rank in each column in which all runs were tested against each other. */
function rankSection(suite, row, section) {
  const entries = [{ id: "average", title: "AVG" }, ...suite.tasks].flatMap(({ id, title }) => {
    const interval = ownValue(row.ranks, id);
    return interval ? [[title, `${rankText(interval)} of ${suite.ranked[id]}`]] : [];
  });
  return entries.length > 0 && section("Ranks that the tests leave open", nameValueTable("Ranks", entries));
}

/** The predictions and the learning curve of stage 2 of one task, which the user selects. */
function taskSection(suite, row, names, style, width, section) {
  const tasks = suite.tasks.filter(
    (task) => ownValue(row.details.classes, task.id) || curvePoints(row, "finetune", task, suite.tasks, true).length,
  );
  if (!tasks.length) return null;
  const content = h("div", { "aria-live": "polite" });
  const show = (id) => {
    const task = tasks.find((candidate) => candidate.id === id);
    const points = curvePoints(row, "finetune", task, suite.tasks, true);
    const title = `${task.title}, stage 2: score by training step (0: after stage 1), one line per seed`;
    content.replaceChildren(
      ...[
        predictionsOf(task, ownValue(row.details.classes, id), width),
        points.length && figure(title, curvePlot(points, [row], names, style, width, title, 220)),
      ].filter(Boolean),
    );
  };
  show(tasks[0].id);
  return section(
    "Predictions and stage 2",
    selectField(
      "Task",
      `predictions:${row.id}`,
      tasks.map((task) => [task.id, task.title]),
      tasks[0].id,
      show,
    ),
    content,
  );
}

function stageSection(suite, row, names, style, width, section) {
  const points = curvePoints(row, "pretrain", null, suite.tasks, true);
  if (!points.length) return null;
  const title = "All tasks together: average on the validation data by training step, one line per seed";
  return section("Stage 1", figure(title, curvePlot(points, [row], names, style, width, title, 220)));
}

function costTable(row) {
  const entries = COSTS.filter((cost) => known(row.cost[cost.id])).map((cost) => [
    `${cost.title}, ${cost.metric}`,
    cost.format(row.cost[cost.id]),
  ]);
  return entries.length ? nameValueTable("Cost", entries) : h("p", {}, "not known");
}

function versionSection(details, section) {
  const entries = Object.entries(details.versions ?? {});
  return entries.length > 0 && section("Versions", nameValueTable("Versions", entries));
}

function inputSection(details, section) {
  const entries = Object.entries(details.inputs ?? {}).map(([file, hash]) => [file, h("code", {}, String(hash))]);
  return (
    entries.length > 0 &&
    section("Data (SHA-256)", h("details", {}, h("summary", {}, `${entries.length} files`), nameValueTable("Data", entries)))
  );
}

/** The configuration; keys with different values in other own runs come first. */
function configSection(suite, row, section) {
  const config = Object.entries(row.details.config ?? {});
  if (!config.length) return null;
  const others = suite.rows.filter((other) => other.details?.config).map((other) => other.details.config);
  const differs = (key, value) => others.some((other) => ownValue(other, key) !== value);
  const ordered = [
    ...config.filter(([key, value]) => differs(key, value)),
    ...config.filter(([key, value]) => !differs(key, value)),
  ];
  const table = nameValueTable(
    "Configuration",
    ordered.map(([key, value]) => [
      [key, differs(key, value) && h("span", { class: "differs" }, " differs")],
      h("code", {}, String(value)),
    ]),
  );
  const filter = h("input", {
    type: "search",
    autocomplete: "off",
    "data-key": `config:${row.id}`,
    oninput: () => {
      const text = filter.value.trim().toLowerCase();
      for (const line of table.querySelectorAll("tr")) line.hidden = !line.textContent.toLowerCase().includes(text);
    },
  });
  return section(
    "Configuration",
    h("label", { class: "field" }, h("span", {}, "Filter keys"), filter),
    h("div", { class: "list scroller", role: "region", tabindex: "0", "aria-label": "Configuration" }, table),
  );
}

function copyableCommand(row, command) {
  const text = h("code", {}, command);
  const button = h(
    "button",
    {
      type: "button",
      "data-key": `copy:${row.id}`,
      onclick: async () => {
        // If the browser does not let a local file use the clipboard, the command is at least selected.
        getSelection().selectAllChildren(text);
        const copied = await navigator.clipboard?.writeText(command).then(
          () => true,
          () => false,
        );
        button.textContent = copied ? "Copied" : "Selected";
      },
    },
    "Copy",
  );
  return [h("pre", { tabindex: "0", "aria-label": "Command" }, text), button];
}
