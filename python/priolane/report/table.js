"use strict";
// Tables of metrics: a click on a column's name sorts by it, the fields above the table leave rows out.
for (const box of document.querySelectorAll(".metrics")) {
  const body = box.querySelector("tbody");
  const rows = [...body.rows];
  const heads = [...box.querySelectorAll("thead th")];
  const status = box.querySelector("[role=status]");
  const fields = [...box.querySelectorAll("[data-column]")];
  const search = box.querySelector("input");

  const value = (row, column) => {
    const cell = row.cells[column];
    return heads[column].className === "number" ? Number(cell.dataset.value ?? NaN) : cell.textContent;
  };
  const compare = (column, sign) => (a, b) => {
    const [x, y] = [value(a, column), value(b, column)];
    if (typeof x === "string") return sign * x.localeCompare(y, undefined, { numeric: true });
    // What has no value comes last, whichever way.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };
  const sort = (column) => {
    const up = heads[column].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.sort(compare(column, up ? 1 : -1));
    body.append(...rows);
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const chosen = fields.every((field) => !field.value || row.cells[field.dataset.column].textContent === field.value);
      const texts = [...row.cells].filter((cell) => cell.className !== "number").map((cell) => cell.textContent);
      row.hidden = !(chosen && words.every((word) => texts.join(" ").toLowerCase().includes(word)));
      shown += !row.hidden;
    }
    status.textContent = `${shown} of ${rows.length} rows`;
  };

  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sort(column)));
  [search, ...fields].forEach((field) => field.addEventListener("input", filter));
  box.querySelector(".filters").hidden = false;
  filter();
}
