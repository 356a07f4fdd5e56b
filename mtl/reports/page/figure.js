// Functions that all plots share: frames, colours, legends and labels.

const COLOURS = 8;
const DASHES = ["none", "7 3", "2 3", "8 3 2 3"];
const SYMBOLS = ["circle", "square", "triangle", "diamond2", "star", "wye", "cross"];
const LINE_HEIGHT = 13;

/** The symbol of a family in all plots, also without colours. */
function symbolOf(suite, family) {
  return SYMBOLS[suite.families.findIndex(({ id }) => id === family) % SYMBOLS.length];
}

/** The style of each own run in all plots: a colour and a dash, whose combination is unique for dozens of runs; after COLOURS runs, symbols are hollow. */
function runStyles(suite) {
  const own = suite.rows.filter((row) => row.source === "run");
  // Runs with learning curves first: the first styles differ most.
  const hasCurves = (row) => Boolean(row.details?.curves?.length);
  own.sort((one, other) => hasCurves(other) - hasCurves(one));
  return new Map(
    own.map((row, index) => [
      row.id,
      {
        colour: `var(--run-${index % COLOURS})`,
        dash: DASHES[(index + Math.floor(index / COLOURS)) % DASHES.length],
        isHollow: Math.floor(index / COLOURS) % 2 === 1,
      },
    ]),
  );
}

/** A plot with a caption. */
function figure(caption, ...content) {
  return h("figure", {}, h("figcaption", {}, caption), ...content);
}

/** A domain around values that are all equal; undefined if they differ, so that Plot chooses the domain. */
function domainOfConstant(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const reach = 10 ** (1 - scoreDecimals);
  return low === high ? [low - reach, high + reach] : undefined;
}

/** Plot's SVG as one image with a label for screen readers. */
function plotImage(options, label) {
  const svg = Plot.plot({ style: { fontSize: "12px", overflow: "visible" }, ...options, ariaLabel: label });
  svg.setAttribute("role", "img");
  return svg;
}

const measuring = document.createElement("canvas").getContext("2d");

/** The width of a text in a plot, in pixels. */
function widthOf(text) {
  measuring.font = "12px system-ui, sans-serif";
  return measuring.measureText(text).width;
}

/** A name split into at most three lines of `width` pixels; a longer name loses its middle. */
function wrapText(name, width) {
  const fitting = Math.max(8, Math.floor(width / widthOf("n")));
  const result = [""];
  for (const word of shortened(name, 3 * fitting - 6).split(/(?<=[\s,/_-])/)) {
    for (let rest = word; rest; rest = rest.slice(fitting)) {
      const part = rest.slice(0, fitting);
      if (widthOf(result.at(-1) + part.trimEnd()) <= width) result[result.length - 1] += part;
      else result.push(part);
    }
  }
  return result.map((line) => line.trimEnd()).filter(Boolean);
}

const CENTRE = [0.5, 0.5];
const ACROSS = [
  [0, 0.5],
  [1, 0.5],
];

/** A small plot of one mark, for a legend; its x and y axes go from 0 to 1. */
function swatch(width, height, mark) {
  const unit = { domain: [0, 1] };
  return Plot.plot({ width, height, margin: 0, axis: null, x: unit, y: unit, marks: [mark] });
}

/** The stroke and the fill of a row's symbol. Published rows are hollow. */
function symbolColours(style, row) {
  const { colour, isHollow } = style.get(row.id) ?? { colour: "var(--muted)", isHollow: true };
  return { stroke: colour, fill: isHollow ? "none" : colour };
}

/** A legend of lines: of each row. */
function lineLegend(rows, names, style) {
  return legend(
    rows.map((row) => {
      const { colour, dash } = style.get(row.id);
      const line = Plot.line(ACROSS, { stroke: colour, strokeWidth: 2, strokeDasharray: dash });
      return [swatch(34, 12, line), names.get(row.id)];
    }),
  );
}

/** Legends of symbols: of each family, where there are several, and of each row. */
function symbolLegends(suite, rows, names, style) {
  const dot = (family, colours) => swatch(14, 14, Plot.dot([CENTRE], { symbol: symbolOf(suite, family), r: 4.5, ...colours }));
  const families = suite.families.filter(({ id }) => rows.some((row) => row.family === id));
  const muted = { stroke: "var(--muted)", fill: "none" };
  return [
    families.length > 1 && legend(families.map(({ id, title }) => [dot(id, muted), title])),
    legend(rows.map((row) => [dot(row.family, symbolColours(style, row)), names.get(row.id)])),
  ];
}

/** A legend; `entries` are [a small plot, text]. */
function legend(entries) {
  return h(
    "ul",
    { class: "legend" },
    entries.map(([sample, text]) => {
      sample.setAttribute("aria-hidden", "true");
      return h("li", {}, sample, h("span", {}, text));
    }),
  );
}

/**
 * Positions for the labels of points, beside, above or below each point, so that no label covers another label or a point.
 * `points` are {x, y, text} in pixels; labels stay within `bounds`; a label without a free position is left out.
 */
function placeLabels(points, bounds) {
  const boxes = points.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  const free = (box) =>
    box.left >= bounds.left &&
    box.right <= bounds.right &&
    box.top >= bounds.top &&
    box.bottom <= bounds.bottom &&
    boxes.every(
      (other) => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom,
    );
  return points.flatMap((point) => {
    const length = widthOf(point.text);
    for (const offset of [0, -10, 10, -16, 16, -24, 24, -34, 34]) {
      for (const left of [point.x + 10, point.x - 10 - length, point.x - length / 2]) {
        const top = point.y + offset - LINE_HEIGHT / 2;
        const box = { left, right: left + length, top, bottom: top + LINE_HEIGHT };
        if (!free(box)) continue;
        boxes.push(box);
        return [{ ...point, left, middle: point.y + offset }];
      }
    }
    return [];
  });
}
