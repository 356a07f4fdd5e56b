// Functions that format numbers and names.

const MISSING = "–";

/** The value of an object's own key, else undefined. (A plain lookup would fail for a task named "constructor".) */
function ownValue(object, key) {
  return object && Object.hasOwn(object, key) ? object[key] : undefined;
}

function known(value) {
  return value !== null && value !== undefined;
}

// How scores are shown; the report's numbers are already on this scale.
let scoreDecimals = 1;
let scoreUnit = "score × 100";
let ownNoun = "own run"; // what the suite calls a row that is not published

/** Show scores as the suite does, from now on. */
function showScoresOf(suite) {
  scoreDecimals = suite.decimals;
  scoreUnit = suite.unit;
  ownNoun = suite.noun;
}

function formatScore(value) {
  return value.toFixed(scoreDecimals).replace("-", "−");
}

function formatDifference(value) {
  const zero = (0).toFixed(scoreDecimals);
  const text = formatScore(value);
  return text.startsWith("−") || text === zero ? text.replace(`−${zero}`, zero) : `+${text}`;
}

function formatProbability(value) {
  return value < 0.001 ? "< 0.001" : `= ${value.toFixed(3)}`;
}

/** A probability in per cent, never as certain as 0 or 100 %. */
function formatShare(value) {
  return value < 0.001 ? "< 0.1 %" : value > 0.999 ? "> 99.9 %" : `${(100 * value).toFixed(1)} %`;
}

function formatRange(low, high) {
  return low < 0 || high < 0 ? `${formatScore(low)} to ${formatScore(high)}` : `${formatScore(low)}–${formatScore(high)}`;
}

/** The interval of a rank: "2–5", or "1". */
function rankText([low, high]) {
  return low === high ? String(low) : `${low}–${high}`;
}

function formatCount(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  return value >= 1e4 ? `${(value / 1e3).toFixed(0)} k` : value.toLocaleString("en", { maximumFractionDigits: 0 });
}

function formatSeconds(value) {
  if (value >= 36000) return `${(value / 3600).toFixed(0)} h`;
  if (value >= 3600) return `${(value / 3600).toFixed(1)} h`;
  if (value >= 120) return `${(value / 60).toFixed(0)} min`;
  return value >= 10 ? `${value.toFixed(0)} s` : `${value.toFixed(1)} s`;
}

function formatBytes(value) {
  return value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${Math.ceil(value / 1e6)} MB`;
}

function formatRate(value) {
  return value >= 10 ? value.toFixed(0) : value.toFixed(1);
}

/** "1 seed", "3 seeds" */
function withCount(count, thing) {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** "101 to 200": the numbers of `count` rows, the first of which has the number `first` from 0. */
function rangeText(first, count) {
  return `${first + 1} to ${first + count}`;
}

/** "a, b and c" */
function joinWithAnd(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}

const MOST_NAMED = 20;

/** The names; of many, the first ones and how many more there are. */
function joinSome(names) {
  const more = names.length - MOST_NAMED;
  return joinWithAnd(more > 0 ? [...names.slice(0, MOST_NAMED), `${more} more`] : names);
}

/** A name of at most `limit` characters; a longer one loses its middle. */
function shortened(name, limit) {
  if (name.length <= limit) return name;
  const half = Math.floor((limit - 1) / 2);
  return `${name.slice(0, half)}…${name.slice(-half)}`;
}
