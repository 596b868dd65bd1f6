// Sort and filter the table of students. Without it the page shows the same table, whole and sorted by name.
"use strict";
const table = document.querySelector("table.marks");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, keys: new Set(row.dataset.keys.split(" ")), name: row.cells[0].textContent.toLowerCase() }));
  const filters = document.querySelector(".filters");
  const [name, ...choices] = filters.querySelectorAll("input, select");
  const show = () => {
    const wanted = choices.map((choice) => choice.value).filter(Boolean);
    let shown = 0;
    for (const { row, keys, name: text } of rows) {
      row.hidden = !(text.includes(name.value.toLowerCase()) && wanted.every((key) => keys.has(key)));
      shown += !row.hidden;
    }
    filters.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
  };
  filters.hidden = false;
  for (const event of ["input", "change"]) filters.addEventListener(event, show);
  show();

  // The number that a cell ends or begins with, else its words.
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = text.match(/^-?[\d.]+|[\d.]+$/);
    return number && column ? Number(number[0]) : text.toLowerCase();
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other
    : typeof one === typeof other ? one.localeCompare(other, undefined, { numeric: true })
    : typeof one === "number" ? 1 : -1;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.map((one) => [value(one.row, column), one.row]).sort((a, b) => compare(a[0], b[0]));
      body.append(...(down ? sorted.reverse() : sorted).map(([, row]) => row));
    });
  });
}
