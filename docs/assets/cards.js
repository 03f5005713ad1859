// Wide tables of sentences, which phones show as cards: each cell gets the name of its column, and site.css does the rest.

const COLUMNS = 3
const SENTENCE = 60

for (const table of document.querySelectorAll("article table:not([class])")) {
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim())
  const cells = [...table.querySelectorAll("tbody td")]
  if (names.length < COLUMNS || !cells.some((cell) => cell.textContent.length > SENTENCE)) continue
  table.dataset.cards = ""
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, nth) => {
      cell.dataset.column = names[nth]
    })
  }
}
