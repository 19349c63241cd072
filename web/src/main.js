// The script inside each HTML report. The page is complete without it, but for its charts: verdict, tables and findings
// are written by Go. Everything here reads the one JSON block and draws.
import { options, palette, table } from './charts.js'
import { init, use } from 'echarts/core'
import { HeatmapChart, LineChart } from 'echarts/charts'
import { AriaComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from 'echarts/components'
import { SVGRenderer } from 'echarts/renderers'

use([HeatmapChart, LineChart, AriaComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
  TooltipComponent, VisualMapComponent, SVGRenderer])

const root = document.documentElement
const data = JSON.parse(document.getElementById('data').textContent)
const figures = [...document.querySelectorAll('figure[data-chart]')]
const drawn = new Map() // figure -> its chart

// A printed column is this wide; beforeprint comes before the browser lays out the page for paper, so it cannot be measured.
// The height is the one that the stylesheet gives plots on paper, or the bottom of a chart would be cut off.
const paper = { wide: 684, narrow: 333, height: 190 }
const byKey = document.getElementById('theme')

function draw(figure, width, height) {
  const plot = figure.querySelector('.plot')
  drawn.get(figure)?.dispose()
  const scenario = data[Number(figure.dataset.scenario)]
  // ECharts writes a width of 'auto' into the SVG, which browsers complain about.
  const size = { width: width ?? (plot.clientWidth || 600), height: height ?? (plot.clientHeight || 240) }
  const chart = init(plot, null, { renderer: 'svg', ...size })
  drawn.set(figure, chart)
  chart.setOption({
    ...options(figure.dataset.chart, scenario, Number(figure.dataset.part ?? 0), palette(root), size.width),
    animation: false,
    aria: { enabled: true, label: { description: figure.dataset.description } },
  })
  plot.dataset.drawn = 'yes'
}

// Heat maps have thousands of cells: a chart is drawn when it comes near the window.
const near = new IntersectionObserver((entries) => {
  for (const e of entries) {
    if (!e.isIntersecting) continue
    near.unobserve(e.target)
    if (!drawn.has(e.target)) draw(e.target)
  }
}, { rootMargin: '400px' })
figures.forEach((f) => near.observe(f))

const redraw = () => [...drawn.keys()].forEach((f) => draw(f))

let width = innerWidth
let resizing
addEventListener('resize', () => {
  if (innerWidth === width) return // a phone's address bar comes and goes
  width = innerWidth
  clearTimeout(resizing)
  resizing = setTimeout(redraw, 120)
})

// Dark or light: the system's choice until the reader makes one.
const dark = matchMedia('(prefers-color-scheme: dark)')
const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches)
function show(theme) {
  if (theme) root.dataset.theme = theme
  else delete root.dataset.theme
  name()
  redraw()
}
// The button says what it will do.
function name() {
  byKey.textContent = isDark() ? 'Light' : 'Dark'
  byKey.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`)
}
byKey.hidden = false
name()
byKey.addEventListener('click', () => show(isDark() ? 'light' : 'dark'))
dark.addEventListener('change', () => show(root.dataset.theme))

// Paper is white, and everything is on it.
let before
addEventListener('beforeprint', () => {
  before = root.dataset.theme
  root.dataset.theme = 'light'
  for (const d of document.querySelectorAll('details')) {
    d.dataset.wasOpen = d.open ? 'yes' : ''
    d.open = !d.classList.contains('series')
  }
  figures.forEach((f) => draw(f, f.classList.contains('wide') ? paper.wide : paper.narrow, paper.height))
})
addEventListener('afterprint', () => {
  for (const d of document.querySelectorAll('details')) d.open = d.dataset.wasOpen === 'yes'
  show(before)
})

// The per-second figures as a table, written when it is opened.
for (const details of document.querySelectorAll('details.series')) {
  details.addEventListener('toggle', () => {
    const box = details.querySelector('.scroll')
    if (details.open && !box.firstChild) box.append(table(data[Number(details.dataset.scenario)]))
  })
}

// navigator.clipboard is there on secure pages only, which a file opened from disk is not everywhere.
const announce = document.getElementById('announce')
for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const code = document.getElementById(button.dataset.copies)
    try {
      await navigator.clipboard.writeText(code.textContent)
    } catch {
      getSelection().selectAllChildren(code)
      document.execCommand('copy')
      getSelection().removeAllRanges()
    }
    button.textContent = 'Copied'
    announce.textContent = 'Copied to the clipboard'
    setTimeout(() => { button.textContent = 'Copy'; announce.textContent = '' }, 1600)
  })
}
