// The page: reads the report, and redraws what a choice changes.

const report = JSON.parse(document.getElementById("report").textContent);
let redrawPlots = () => {};

/** Show a suite with the default choices. */
function openSuite(suite) {
  showScoresOf(suite);
  let choices = defaultChoices(suite);
  const plotChoices = defaultPlotChoices();
  const sectionChoices = defaultSectionChoices();
  const board = document.getElementById("board");
  // The panel of an opened row is kept with the user's changes while the table is redrawn.
  const panels = new Map();
  const panel = (row) => {
    if (!panels.has(row.id))
      panels.set(
        row.id,
        detailPanel(
          suite,
          suite.rows.find((own) => own.id === row.id),
          board.clientWidth,
        ),
      );
    return panels.get(row.id);
  };
  let waiting = null;
  const changed = (remark = "") =>
    keepingFocus(() => {
      const { rows, first, shown, sorted } = drawBoard(suite, choices, changed, panel);
      drawNotes(suite, choices, shown);
      drawSections(suite, sectionChoices, shown);
      const part = shown.length < rows.length ? ` (now ${rangeText(first, shown.length)})` : "";
      document.getElementById("status").textContent =
        `${remark}${rows.length} of ${suite.rows.length} rows shown${part}, sorted by ${sorted}.`;
      redrawPlots = () => drawPlots(suite, choices, plotChoices, shown);
      clearTimeout(waiting);
      waiting = setTimeout(redrawPlots);
    });
  const reset = () => {
    choices = defaultChoices(suite);
    keepingFocus(() => drawControls(suite, choices, changed, reset));
    changed();
  };
  document.getElementById("results-title").textContent = suite.title;
  document.getElementById("lead").textContent = leadText(suite);
  document.getElementById("key").replaceChildren(...sourceLegend(suite));
  reset();
}

const SPLITS = { dev: "the validation data (dev)", test: "the test data (test)" };

function leadText(suite) {
  const own = suite.rows.filter((row) => row.source === "run").length;
  const published = suite.rows.length - own;
  return [
    `${withCount(suite.tasks.length, "task")}.`,
    own && `${withCount(own, ownNoun)}, scored on ${joinWithAnd(ownSplits(suite.rows).map((split) => SPLITS[split]))}.`,
    published && `${withCount(published, "published row")}, scored on ${joinWithAnd(publishedSplits(suite.rows).map((split) => SPLITS[split]))}.`,
    suite.rows.some((row) => row.details) && "Open a model for its seeds, predictions, cost and configuration.",
    !own && `There are no ${ownNoun}s yet.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** A legend for own and published rows, if there are both. */
function sourceLegend(suite) {
  const sources = new Set(suite.rows.map((row) => row.source));
  return sources.size < 2
    ? []
    : [
        legendList([
          ["patch own", `${ownNoun}, scored on ${joinWithAnd(ownSplits(suite.rows))}`],
          ["patch", `published, scored on ${joinWithAnd(publishedSplits(suite.rows))}`],
        ]),
      ];
}

function openReport() {
  const { suites } = report;
  document.getElementById("origin").textContent = [
    report.generated && `Made ${report.generated}`,
    report.version && `mtl ${report.version}`,
  ]
    .filter(Boolean)
    .join(", by ");
  const footer = document.getElementById("footer");
  if (report.command) footer.append(h("p", {}, "Made with ", h("code", {}, report.command)));
  const libraries = "table-core (MIT), D3 (ISC), Observable Plot (ISC); their licences are in the page's source";
  footer.append(h("p", {}, `This page is one file and loads nothing from the network. It contains ${libraries}.`));
  if (!suites.length) {
    document.getElementById("status").textContent = "The report has no suite.";
    document.getElementById("plots").hidden = true;
    return;
  }
  if (suites.length > 1)
    document.getElementById("suites").replaceChildren(
      selectField(
        "Benchmark",
        "suite",
        suites.map((suite, index) => [String(index), suite.title]),
        "0",
        (index) => openSuite(suites[index]),
      ),
    );
  openSuite(suites[0]);
  const narrow = matchMedia("(max-width: 640px)");
  const options = document.getElementById("options");
  const openUnlessNarrow = () => {
    options.open = !narrow.matches;
  };
  narrow.addEventListener("change", openUnlessNarrow);
  openUnlessNarrow();
  let width = document.getElementById("figures").clientWidth;
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) < 2) return;
    width = contentRect.width;
    redrawPlots();
  }).observe(document.getElementById("figures"));
}

openReport();
