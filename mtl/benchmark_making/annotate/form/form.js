// The form: one row at a time, its answer, and the file that is exported. Texts are only ever inserted as text.
(() => {
"use strict";

const content = JSON.parse(document.getElementById("content").textContent);
const { rows, kind } = content;
const find = (id) => document.getElementById(id);
const STORED = `mtl-annotate ${content.task} ${content.sample}`;
const KEYS = "123456789abcdefghijklmnopqrstuvwxyz";
const COLUMNS = ["task", "sample", "name", "line", "answer"];

let state = { name: "", row: 0, answers: {} }; // answers: texts by the line of their row

/** A new element with these properties and children. */
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** What a row may be answered with: [answer, what stands on its button]. Candidates are shown in the row's own order. */
function answersOf(row) {
  return kind === "choice" ? row.candidates.map(([index, text]) => [String(index), text]) : content.labels.map((label) => [label, label]);
}

/** The key of each answer: the labels themselves where each is one digit or letter, else digits, then letters. */
function keysOf(answers) {
  const own = answers.map(([answer]) => answer.toLowerCase());
  const plain = kind === "labels" && own.every((key) => KEYS.includes(key) || key === "0") && own.every((key) => key.length === 1);
  return plain && new Set(own).size === own.length ? own : answers.map((_, index) => KEYS[index] ?? "");
}

function restore() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED));
    if (stored) state = { ...state, ...stored };
    if (!rows[state.row]) state.row = 0;
    localStorage.setItem(STORED, JSON.stringify(state));
  } catch {
    warn();
  }
}

function store() {
  try {
    localStorage.setItem(STORED, JSON.stringify(state));
  } catch {
    warn();
  }
}

function warn() {
  find("warning").textContent = "This browser does not keep answers. Export them before you close this page, or open the form in another browser.";
  find("warning").hidden = false;
}

/** Keep an answer, or remove it where it is null. */
function answer(text) {
  const { line } = rows[state.row];
  if (text === null) delete state.answers[line];
  else state.answers[line] = text;
  store();
  showProgress();
}

function count() {
  return rows.filter(({ line }) => line in state.answers).length;
}

function showProgress() {
  const done = count();
  find("bar").max = rows.length;
  find("bar").value = done;
  find("status").textContent = `${done} of ${rows.length} rows answered` + (done === rows.length ? ". Export the answers below." : "");
  find("back").disabled = state.row === 0;
  find("forward").disabled = state.row === rows.length - 1;
  find("open").disabled = done === rows.length;
}

/** Show the row of this number, and move the focus to it. */
function show(number, focus = true) {
  state.row = Math.max(0, Math.min(rows.length - 1, number));
  store();
  const row = rows[state.row];
  find("heading").textContent = `Row ${state.row + 1} of ${rows.length}`;
  find("texts").replaceChildren(...row.texts.flatMap((parts, index) => textOf(parts, content.columns[index])));
  find("answer").replaceChildren(kind === "number" ? numberField(row) : buttons(row));
  find("problem").textContent = "";
  showProgress();
  if (focus) (find("number") ?? find("heading")).focus();
}

/** A text with its marked parts; parts are [text, whether it is marked]. */
function textOf(parts, column) {
  const text = element("p", { className: "text", lang: content.language }, ...parts.map(([part, marked]) => (marked ? element("mark", {}, part) : part)));
  return content.columns.length > 1 ? [element("h3", {}, column), text] : [text];
}

function buttons(row) {
  const answers = answersOf(row);
  const keys = keysOf(answers);
  const group = element("div", { className: kind === "choice" ? "choices long" : "choices" });
  answers.forEach(([value, text], index) => {
    const button = element("button", { type: "button", onclick: () => choose(value) });
    if (keys[index]) {
      button.append(element("kbd", {}, keys[index]), " ");
      button.setAttribute("aria-keyshortcuts", keys[index]);
    }
    button.append(kind === "choice" ? element("span", { lang: content.language }, text) : text);
    button.dataset.answer = value;
    button.setAttribute("aria-pressed", String(state.answers[row.line] === value));
    group.append(button);
  });
  return element("fieldset", {}, element("legend", {}, kind === "choice" ? "Which one is right?" : "Which label is right?"), group);
}

/** Take a label or a candidate, and go to the next row. */
function choose(value) {
  answer(value);
  show(state.row + 1);
}

function numberField(row) {
  const [low, high] = content.range;
  const field = element("input", { id: "number", type: "number", min: low, max: high, step: "any", value: state.answers[row.line] ?? "" });
  field.setAttribute("aria-describedby", "problem");
  field.addEventListener("input", () => {
    const number = field.valueAsNumber;
    const right = number >= low && number <= high;
    answer(right ? String(number) : null);
    const empty = field.value === "" && !field.validity.badInput;
    find("problem").textContent = right || empty ? "" : `The answer must be a number from ${low} to ${high}.`;
  });
  return element("div", {}, element("label", { htmlFor: "number" }, `A number from ${low} to ${high}: `), field);
}

/** The first row without an answer after this one, or else from the start. */
function nextOpen() {
  const numbers = [...rows.keys()].filter((number) => !(rows[number].line in state.answers));
  return numbers.find((number) => number > state.row) ?? numbers[0] ?? state.row;
}

function exportAnswers() {
  const name = find("name").value.trim().replace(/\s+/g, " ");
  if (!name) {
    find("exported").textContent = "Write your name first: it tells your answers from those of others.";
    find("name").focus();
    return;
  }
  const answered = rows.filter(({ line }) => line in state.answers).sort((one, other) => one.line - other.line);
  const lines = answered.map(({ line }) => [content.task, content.sample, name, line, state.answers[line]]);
  const text = [COLUMNS, ...lines].map((cells) => cells.join("\t") + "\n").join("");
  const file = `${content.task}-${name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.tsv`;
  const url = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
  element("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  const left = rows.length - answered.length;
  find("exported").textContent = `${file} has ${answered.length} answers.` + (left ? ` ${left} of ${rows.length} rows have none yet: answer them, and export again.` : "");
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === find("name")) return;
  const number = find("number");
  if (event.key === "ArrowLeft") show(state.row - 1);
  else if (event.key === "ArrowRight" || (event.key === "Enter" && event.target === number)) {
    if (event.key === "Enter" && find("problem").textContent) return;
    show(state.row + 1);
  } else if (kind !== "number") {
    const answers = answersOf(rows[state.row]);
    const index = event.key.length === 1 ? keysOf(answers).indexOf(event.key.toLowerCase()) : -1;
    if (index < 0) return;
    choose(answers[index][0]);
  } else return;
  event.preventDefault();
}

function start() {
  find("instructions").textContent = content.instructions;
  find("keys").textContent =
    (kind === "number" ? "Type a number; Enter goes to the next row." : "Press the key that stands on an answer; the next row follows.") +
    " The arrow keys ← and → go back and forward.";
  restore();
  find("name").value = state.name;
  find("name").addEventListener("input", (event) => {
    state.name = event.target.value;
    store();
  });
  find("back").addEventListener("click", () => show(state.row - 1));
  find("forward").addEventListener("click", () => show(state.row + 1));
  find("open").addEventListener("click", () => show(nextOpen()));
  find("save").addEventListener("click", exportAnswers);
  find("clear").addEventListener("click", () => {
    if (!confirm(`Delete your ${count()} answers on this form?`)) return;
    state = { name: "", row: 0, answers: {} };
    find("name").value = "";
    find("exported").textContent = "";
    show(0);
  });
  document.addEventListener("keydown", pressed);
  find("about").open = count() === 0;
  show(state.row, false);
  find("number")?.focus();
}

start();
})();
