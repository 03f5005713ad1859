// Wide tables of sentences, which phones show as cards: each cell gets the name of its column, and site.css does the rest.

// The columns from which on a table is wide, and the letters from which on a cell of it is a sentence.
const WIDE = [
  [3, 60],
  [4, 40],
  [5, 35],
]

for (const table of document.querySelectorAll("article table:not([class])")) {
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim())
  const longest = Math.max(0, ...[...table.querySelectorAll("tbody td")].map((cell) => cell.textContent.length))
  // All tables of keys on a page look alike, short ones too.
  const ofKeys = names[0] === "key" && names.includes("meaning")
  if (!ofKeys && !WIDE.some(([columns, letters]) => names.length >= columns && longest > letters)) continue
  table.dataset.cards = ""
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, nth) => {
      cell.dataset.column = names[nth]
    })
  }
}

// Short numbers keep their unit and their interval on one line.
for (const cell of document.querySelectorAll("article table:not([class]) td")) {
  const text = cell.textContent.trim()
  if (text.length <= 10 && /^[-+−]?\d/.test(text)) cell.dataset.number = ""
}
