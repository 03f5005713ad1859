// Filters of tables: rows of a table of the class `filtered` that do not have all chosen values are hidden.
for (const table of document.querySelectorAll("table.filtered")) {
  const controls = document.getElementById(table.dataset.filters)
  if (!controls) continue
  const rows = [...table.tBodies[0].rows]
  const count = controls.querySelector("output")
  const inputs = [...controls.querySelectorAll("select, input")]
  const apply = () => {
    let shown = 0
    for (const row of rows) {
      const fits = inputs.every((input) => {
        const wanted = input.value.trim().toLowerCase()
        if (!wanted) return true
        const has = input.name === "words" ? row.textContent.toLowerCase() : row.dataset[input.name]
        return input.name === "words" ? wanted.split(/\s+/).every((word) => has.includes(word)) : has === wanted
      })
      row.hidden = !fits
      shown += fits
    }
    count.textContent = `${shown} of ${rows.length}`
  }
  controls.hidden = false
  controls.addEventListener("input", apply)
  apply()
}
