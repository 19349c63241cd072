// The script of a page without charts: colours, copying, and everything open on paper. Pages with charts have it in
// theirs (web/src/main.js).
(() => {
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches)
  const button = document.getElementById('theme')
  const name = () => {
    button.textContent = isDark() ? 'Light' : 'Dark'
    button.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`)
  }
  button.hidden = false
  name()
  button.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; name() })
  dark.addEventListener('change', name)
  const all = document.querySelectorAll('details')
  addEventListener('beforeprint', () => all.forEach((d) => { d.dataset.wasOpen = d.open ? 'yes' : ''; d.open = true }))
  addEventListener('afterprint', () => all.forEach((d) => { d.open = d.dataset.wasOpen === 'yes' }))
  const announce = document.getElementById('announce')
  for (const copy of document.querySelectorAll('button.copy')) {
    copy.hidden = false
    copy.addEventListener('click', async () => {
      const code = document.getElementById(copy.dataset.copies)
      try {
        await navigator.clipboard.writeText(code.textContent)
      } catch {
        getSelection().selectAllChildren(code)
        document.execCommand('copy')
        getSelection().removeAllRanges()
      }
      copy.textContent = 'Copied'
      announce.textContent = 'Copied to the clipboard'
      setTimeout(() => { copy.textContent = 'Copy'; announce.textContent = '' }, 1600)
    })
  }
})()
