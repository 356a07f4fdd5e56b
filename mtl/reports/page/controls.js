// The controls above the table.

/** Draw the controls into #controls. `changed` is called after every choice, `reset` to restore the defaults. */
function drawControls(suite, choices, changed, reset) {
  const set = (name) => (value) => {
    choices[name] = value;
    changed();
  };
  document.getElementById("controls").replaceChildren(
    h(
      "div",
      { class: "line" },
      searchField(choices, changed),
      sourceField(suite, choices, set),
      familyField(suite, choices, changed),
      valueField(suite, choices, set, "embeddings", "Embeddings", (value) => value),
      valueField(suite, choices, set, "size", "Size", (value) => `${value} units`),
      ownValue(suite.ranked, "average") &&
        selectField(
          "Rank",
          "rank",
          [
            ["", "any"],
            ["best", "may be the best"],
          ],
          choices.rank,
          set("rank"),
        ),
    ),
    h(
      "div",
      { class: "line" },
      suite.rows.some((row) => row.cost) &&
        radioField(
          "Columns",
          "columns",
          [
            ["scores", "scores"],
            ["costs", "cost"],
            ["both", "both"],
          ],
          choices.columns,
          set("columns"),
        ),
      suite.rows.some((row) => row.source === "run") &&
        radioField(
          "Below a score",
          "spread",
          [
            ["none", "nothing"],
            ...(suite.rows.some((row) => row.details) ? [["range", "range over seeds"]] : []),
            ["interval", "95 % CI"],
            ...(Object.keys(suite.ranked ?? {}).length ? [["rank", "rank"]] : []),
          ],
          choices.spread,
          set("spread"),
        ),
      referenceField(suite, choices, set),
      taskField(suite, choices, changed),
      h("button", { type: "button", class: "reset", "data-key": "reset", onclick: reset }, "Reset"),
    ),
  );
}

function searchField(choices, changed) {
  return h(
    "label",
    { class: "field" },
    h("span", {}, "Search models"),
    h("input", {
      type: "search",
      value: choices.search,
      autocomplete: "off",
      "data-key": "search",
      oninput: (event) => {
        choices.search = event.target.value;
        changed();
      },
    }),
  );
}

function sourceField(suite, choices, set) {
  const sources = new Set(suite.rows.map((row) => row.source));
  return (
    sources.size > 1 &&
    selectField(
      "Rows",
      "source",
      [
        ["", "all"],
        ["run", `${ownNoun}s (${ownSplits(suite.rows).join(", ")})`],
        ["published", `published (${publishedSplits(suite.rows).join(", ")})`],
      ],
      choices.source,
      set("source"),
    )
  );
}

function familyField(suite, choices, changed) {
  const families = [...new Set(suite.rows.map((row) => row.family))];
  return (
    families.length > 1 &&
    h(
      "fieldset",
      {},
      h("legend", {}, "Family"),
      h(
        "div",
        { class: "choices" },
        families.map((family) =>
          h(
            "label",
            {},
            h("input", {
              type: "checkbox",
              name: "family",
              value: family,
              checked: choices.families.has(family),
              "data-key": `family:${family}`,
              onchange: (event) => {
                choices.families[event.target.checked ? "add" : "delete"](family);
                changed();
              },
            }),
            suite.families.find((known) => known.id === family).title,
          ),
        ),
      ),
    )
  );
}

/** A select with the values of `name` in the rows; null if all rows have the same value. */
function valueField(suite, choices, set, name, label, inText) {
  const values = [...new Set(suite.rows.map((row) => row[name]).filter(known))]
    .sort((one, other) => (typeof one === "number" ? one - other : one.localeCompare(other)))
    .map(String);
  const some = suite.rows.some((row) => !known(row[name]));
  if (values.length + some < 2) return null;
  return selectField(
    label,
    name,
    [["", "any"], ...values.map((value) => [value, inText(value)]), ...(some ? [["none", "none or not known"]] : [])],
    choices[name],
    set(name),
  );
}

function referenceField(suite, choices, set) {
  const names = fullNames(suite);
  return (
    suite.rows.filter((row) => row.source === "run").length > 1 &&
    Object.keys(suite.comparisons ?? {}).length > 0 &&
    selectField(
      "Compare with",
      "reference",
      [["", "no run"], ...references(suite).map((row) => [row.id, shortened(names.get(row.id), 60)])],
      choices.reference,
      set("reference"),
    )
  );
}

/** Checkboxes for the tasks to show. The last one cannot be hidden, since there is no average over no tasks. */
function taskField(suite, choices, changed) {
  if (suite.tasks.length < 2) return null;
  const summary = h("summary", { "data-key": "tasks" });
  const boxes = suite.tasks.map((task) =>
    h("input", {
      type: "checkbox",
      name: "task",
      value: task.id,
      checked: !choices.hidden.has(task.id),
      "data-key": `task:${task.id}`,
      onchange: (event) => {
        const last = !event.target.checked && shownTasks(suite, choices).length === 1;
        if (last) event.target.checked = true;
        else choices.hidden[event.target.checked ? "delete" : "add"](task.id);
        apply(last ? "The last task cannot be hidden. " : "");
      },
    }),
  );
  const apply = (remark) => {
    for (const box of boxes) box.checked = !choices.hidden.has(box.value);
    const shown = shownTasks(suite, choices).length;
    summary.textContent =
      shown === suite.tasks.length ? `Tasks: all ${shown}` : `Tasks: ${shown} of ${suite.tasks.length}`;
    if (known(remark)) changed(remark);
  };
  const only = (tasks) => () => {
    choices.hidden = new Set(suite.tasks.filter((task) => !tasks.includes(task)).map((task) => task.id));
    apply("");
  };
  apply(null);
  return h(
    "details",
    { class: "tasks" },
    summary,
    h(
      "fieldset",
      {},
      h("legend", { class: "visually-hidden" }, "Tasks shown"),
      h(
        "div",
        { class: "choices" },
        suite.tasks.map((task, index) => h("label", {}, boxes[index], task.title)),
      ),
      h(
        "div",
        { class: "choices" },
        h("button", { type: "button", "data-key": "tasks:all", onclick: only(suite.tasks) }, "Show all"),
        h(
          "button",
          { type: "button", "data-key": "tasks:first", onclick: only(suite.tasks.slice(0, 1)) },
          "Only the first",
        ),
      ),
    ),
  );
}
