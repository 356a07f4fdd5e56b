// Functions that create elements. Text is only ever inserted as text, so that nothing in the data can become markup.

/** A new element. Attributes named on… are event listeners; attributes and children that are null, undefined or false are left out. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Text that is not visible, for screen readers only. */
function screenReaderText(text) {
  return h("span", { class: "visually-hidden" }, text);
}

/** A symbol that is visible, and words that a screen reader reads instead of it. */
function labelledSymbol(symbol, words) {
  return [h("span", { "aria-hidden": "true" }, symbol), screenReaderText(words)];
}

/** Call `build`, which replaces elements, then move the focus to the new element with the data-key that had it before. */
function keepingFocus(build) {
  const key = document.activeElement?.dataset?.key;
  build();
  if (key) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** A labelled select; `choices` are [value, text]. */
function selectField(label, key, choices, chosen, change) {
  const select = h(
    "select",
    { "data-key": key, onchange: (event) => change(event.target.value) },
    choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", { class: "field" }, h("span", {}, label), select);
}

/** Radio buttons in a fieldset; `choices` are [value, text]. */
function radioField(label, key, choices, chosen, change) {
  return h(
    "fieldset",
    {},
    h("legend", {}, label),
    h(
      "div",
      { class: "choices" },
      choices.map(([value, text]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: key,
            value,
            checked: value === chosen,
            "data-key": `${key}:${value}`,
            onchange: () => change(value),
          }),
          text,
        ),
      ),
    ),
  );
}

/** A legend; `entries` are [CSS class of the symbol, text]. */
function legendList(entries) {
  return h(
    "ul",
    { class: "key" },
    entries
      .filter(Boolean)
      .map(([sample, text]) => h("li", {}, h("span", { class: sample, "aria-hidden": "true" }), text)),
  );
}

/** A table of names and values; `entries` are [name, value], where a value is a text or an element. */
function nameValueTable(caption, entries) {
  return h(
    "table",
    { class: "pairs" },
    h("caption", { class: "visually-hidden" }, caption),
    h(
      "tbody",
      {},
      entries.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
    ),
  );
}
