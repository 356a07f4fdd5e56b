// What all plots share: their frame, colours, names and labels.

const COLOURS = 8;
const DASHES = ["none", "7 3", "2 3", "8 3 2 3"];
const SYMBOLS = ["circle", "square", "triangle", "diamond2", "star", "wye", "cross"];
const LINE_HEIGHT = 13;

/** How an own run looks in every plot: a colour, a dash and a symbol that together are its own among dozens. */
function looks(suite) {
  const own = suite.rows.filter((row) => row.source === "run");
  // LSTMs first: they have curves, and the first looks differ most.
  own.sort((one, other) => (other.method === "lstm") - (one.method === "lstm"));
  return new Map(
    own.map((row, index) => [
      row.id,
      {
        colour: `var(--run-${index % COLOURS})`,
        dash: DASHES[(index + Math.floor(index / COLOURS)) % DASHES.length],
        symbol: SYMBOLS[index % SYMBOLS.length],
      },
    ]),
  );
}

/** A plot under a caption that says what it shows. */
function figure(caption, ...content) {
  return h("figure", {}, h("figcaption", {}, caption), ...content);
}

/** A domain around values that are all the same; undefined, which leaves it to Plot, where they differ. */
function spanned(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low - 1, high + 1] : undefined;
}

/** Plot's SVG, named for screen readers as one image. */
function drawn(options, label) {
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

/** A name in lines that fit `width` pixels, three at most; longer ones lose their middle. */
function lines(name, width) {
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

/** One mark alone, in a plot from 0 to 1. */
function swatch(width, height, mark) {
  const unit = { domain: [0, 1] };
  return Plot.plot({ width, height, margin: 0, axis: null, x: unit, y: unit, marks: [mark] });
}

/** A legend of own runs: the line or the symbol that each has. */
function legend(rows, names, style, kind) {
  return h(
    "ul",
    { class: "legend" },
    rows.map((row) => {
      const { colour, dash, symbol } = style.get(row.id) ?? { colour: "var(--muted)", symbol: "circle" };
      const sample =
        kind === "line"
          ? swatch(34, 12, Plot.line(ACROSS, { stroke: colour, strokeWidth: 2, strokeDasharray: dash }))
          : swatch(14, 14, Plot.dot([CENTRE], { symbol, r: 4.5, stroke: colour, fill: style.has(row.id) ? colour : "none" }));
      sample.setAttribute("aria-hidden", "true");
      return h("li", {}, sample, h("span", {}, names.get(row.id)));
    }),
  );
}

/**
 * Where the labels of points go so that none covers another or a point: beside the point, or above or below it.
 * `points` are {x, y, text} in pixels, labels stay within `bounds`; a label that finds no place is left out.
 */
function placed(points, bounds) {
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
