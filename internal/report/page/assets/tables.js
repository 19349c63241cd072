// Long tables: a head sorts by its column, and what is typed above filters the rows. Both kinds of pages have it.
(() => {
  const long = 12 // rows
  const scale = {
    ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12, 'B/s': 1, 'KiB/s': 1024, 'MiB/s': 1024 ** 2, 'GiB/s': 1024 ** 3,
    'kB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9,
  }
  // A figure by its amount, what has none after all that have.
  const amount = (text) => {
    const found = text.match(/^[±+−-]?\s*([\d,]+(?:\.\d+)?)\s*([^\s,;]*)/)
    return found ? Number(found[1].replaceAll(',', '')) * (scale[found[2]] ?? 1) * (/^[−-]/.test(text) ? -1 : 1) : null
  }
  const order = (a, b) => {
    const [x, y] = [amount(a), amount(b)]
    if (x === null || y === null) return (x === null) - (y === null) || a.localeCompare(b, 'en', { numeric: true })
    return x - y
  }
  for (const table of document.querySelectorAll('.table > table')) {
    const body = table.tBodies[0]
    if (body.rows.length <= long) continue
    const rows = [...body.rows]
    const find = document.createElement('input')
    find.type = 'search'
    find.placeholder = `Filter ${rows.length} rows`
    find.setAttribute('aria-label', 'Show only rows that contain')
    find.className = 'filter'
    find.addEventListener('input', () => {
      const words = find.value.toLowerCase().split(/\s+/)
      for (const row of rows) row.hidden = !words.every((w) => row.textContent.toLowerCase().includes(w))
    })
    table.before(find)
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'sort'
      button.append(...head.childNodes)
      head.append(button)
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending'
        for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort')
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending')
        const says = (row) => (row.cells[column].firstChild?.textContent ?? '').trim()
        rows.sort((a, b) => (down ? order(says(b), says(a)) : order(says(a), says(b))))
        body.append(...rows)
      })
    }
  }
})()
