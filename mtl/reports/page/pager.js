// The choice of the page of a table that has more rows than are shown at a time.

/** Draw the controls for `count` rows into #pager, which is hidden if one page holds all of them. */
function drawPager(count, choices, changed) {
  const last = Math.ceil(count / PAGE) - 1;
  const turn = (title, to) =>
    h(
      "button",
      {
        type: "button",
        "data-key": `page:${title}`,
        // A disabled button would lose the focus.
        "aria-disabled": String(to < 0 || to > last),
        onclick: () => {
          if (to < 0 || to > last) return;
          choices.page = to;
          changed();
        },
      },
      title,
    );
  const pages = d3.range(0, last + 1).map((page) => {
    const first = page * PAGE;
    return [String(page), rangeText(first, Math.min(PAGE, count - first))];
  });
  const chosen = selectField(`Rows, of ${count}`, "page", pages, String(choices.page), (page) => {
    choices.page = Number(page);
    changed();
  });
  const pager = document.getElementById("pager");
  pager.hidden = last < 1;
  pager.replaceChildren(...(last < 1 ? [] : [turn("Previous", choices.page - 1), chosen, turn("Next", choices.page + 1)]));
}
