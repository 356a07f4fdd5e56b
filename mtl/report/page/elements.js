// Elements from plain values. Text only ever goes in as text, so nothing in the data can become markup.

/** A new element. Attributes named on… are listeners; null, undefined and false leave an attribute or a child out. */
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

/** Text that only a screen reader says. */
function spoken(text) {
  return h("span", { class: "spoken" }, text);
}

/** A sign that stands for words: seen as the sign, heard as the words. */
function sign(symbol, words) {
  return [h("span", { "aria-hidden": "true" }, symbol), spoken(words)];
}

/** Call `build`, which replaces elements, and give the focus back to the element with the same data-key. */
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

/** What signs mean: [the sign's class, text]. */
function keyList(entries) {
  return h(
    "ul",
    { class: "key" },
    entries
      .filter(Boolean)
      .map(([sample, text]) => h("li", {}, h("span", { class: sample, "aria-hidden": "true" }), text)),
  );
}

/** A table of names and values: [name, value], the value a text or an element. */
function pairs(caption, entries) {
  return h(
    "table",
    { class: "pairs" },
    h("caption", { class: "spoken" }, caption),
    h(
      "tbody",
      {},
      entries.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
    ),
  );
}
