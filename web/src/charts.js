// One function a kind of chart: a scenario's data in, ECharts' options out.
import * as print from './print.js'

// palette reads the page's colours, which follow its theme.
export function palette(root) {
  const probe = document.createElement('i')
  probe.hidden = true
  root.append(probe)
  const of = (name) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const p = {
    ink: of('ink'), muted: of('muted'), line: of('line'), panel: of('panel'), ceiling: of('ceiling'), ramp: of('ramp'),
    dirs: { read: of('read'), write: of('write'), trim: of('trim'), sync: of('sync'), transactions: of('read') },
    layers: ['read', 'write', 'sync', 'trim', 'heat2', 'ceiling', 'muted'].map(of),
    heat: [0, 1, 2, 3, 4].map((i) => of('heat' + i)),
    font: getComputedStyle(document.body).fontFamily,
  }
  probe.remove()
  return p
}

export function options(kind, s, part, p, width) {
  return { textStyle: { fontFamily: p.font, color: p.ink }, backgroundColor: 'transparent', ...kinds[kind](s, part, p, width) }
}

const kinds = {
  iops: (s, _, p) => rates(s, p, 'iops', s.dirs[0]?.name === 'transactions' ? print.tps : print.iops, s.ceiling?.iops, s.lasting?.iops),
  bw: (s, _, p) => rates(s, p, 'bw', print.mib, s.ceiling?.bw, s.lasting?.bw),

  // p50 whole and p99 dashed, so that they differ without colour too.
  latency(s, _, p) {
    const lines = s.dirs.flatMap((d) => [
      line(`${d.name} p50`, s.t, d.p50, p.dirs[d.name], { width: 1.6 }),
      line(`${d.name} p99`, s.t, d.p99, p.dirs[d.name], { width: 1.4, type: 'dashed' }),
    ]).filter((l) => l.data.some((q) => q[1] != null))
    return overTime(s, p, lines, print.latency, { type: 'log', min: decadeBelow(lines), axisLabel: label(p, print.latency) })
  },

  percentiles(s, _, p) {
    const lines = s.dirs.filter((d) => d.curve).map((d) => ({
      name: d.name, type: 'line', data: d.curve, showSymbol: false, symbol: 'circle', symbolSize: 5,
      lineStyle: { width: 1.8, color: p.dirs[d.name] }, itemStyle: { color: p.dirs[d.name] },
    }))
    const most = Math.max(...lines.flatMap((l) => l.data.map((q) => q[0])))
    return {
      grid: grid(), legend: legend(p, lines), tooltip: tooltip(p, print.latency, (x) => print.percentile(x)),
      xAxis: {
        type: 'log', min: 1, max: 10 ** Math.ceil(Math.log10(most) - 0.01), axisLine: quiet(p), axisTick: { show: false },
        splitLine: { lineStyle: { color: p.line } }, axisLabel: label(p, (x) => (x === 1 ? 'least' : print.percentile(x))),
        axisPointer: { label: { formatter: ({ value }) => print.percentile(value) } },
      },
      yAxis: { type: 'log', min: decadeBelow(lines), ...side(p), axisLabel: label(p, print.latency) },
      series: lines,
    }
  },

  // The shade is the logarithm of the count, or the tail would not show beside the body.
  heat(s, part, p, width) {
    const h = s.heat[part]
    const cells = []
    let most = 1
    for (let i = 0; i < h.cells.length; i += 3) {
      most = Math.max(most, h.cells[i + 2])
      cells.push([h.cells[i], h.cells[i + 1], Math.log10(h.cells[i + 2])])
    }
    return {
      ...heatMap(p, seconds(s.ht), h.rows.map(print.latency), cells, 0, Math.max(Math.log10(most), 0.1), width),
      tooltip: {
        ...box(p),
        formatter: ({ value: [x, y, z] }) => `${s.ht[x]} s<br>${print.latency(h.rows[y])} and up<br><b>${print.plain(Math.round(10 ** z))}</b> I/Os`,
      },
    }
  },

  // A point a side with its 95 % interval as a bar; what is invalid is hollow. A tick marks the side's own ceiling, a dashed
  // one what is sustained.
  intervals(s, _, p) {
    const unit = s.unit === 'bandwidth' ? print.mib : print.iops
    const names = s.sides.map((q) => q.name)
    const bars = s.sides.flatMap((q, i) => (q.low == null ? [] : [rod([[q.low, i], [q.high, i]], p.dirs.read, 2)]))
    const ticks = s.sides.flatMap((q, i) => [
      ...(q.ceiling == null ? [] : [rod([[q.ceiling, i - 0.3], [q.ceiling, i + 0.3]], p.ceiling, 2)]),
      ...(q.sustained == null ? [] : [rod([[q.sustained, i - 0.3], [q.sustained, i + 0.3]], p.ceiling, 1.5, 'dashed')]),
    ])
    const points = s.sides.map((q, i) => ({
      value: [q.at, i],
      itemStyle: q.struck ? { color: p.panel, borderColor: p.muted, borderWidth: 2 } : { color: p.dirs.read },
      label: { show: true, position: 'top', formatter: q.label, color: q.struck ? p.muted : p.ink, fontSize: 11 },
    }))
    const most = Math.max(1, ...s.sides.flatMap((q) => [q.at, q.high, q.ceiling]).filter((v) => v != null))
    const longest = Math.max(...names.map((n) => n.length))
    return {
      grid: { left: Math.min(16 + longest * 6.2, 180), right: 24, top: 12, bottom: 26 },
      xAxis: { type: 'value', min: 0, max: nice(most * 1.05), ...side(p), axisLabel: label(p, print.axis(most)) },
      yAxis: {
        type: 'value', min: -0.6, max: names.length - 0.4, inverse: true, interval: 1, ...side(p), splitLine: { show: false },
        axisLabel: { ...label(p), customValues: names.map((_, i) => i), formatter: (i) => names[i] ?? '', width: 160, overflow: 'truncate' },
      },
      tooltip: {
        ...box(p), trigger: 'item',
        formatter: ({ seriesName, dataIndex }) => (seriesName === 'figures' ? describe(s.sides[dataIndex], unit) : ''),
      },
      series: [...ticks, ...bars, {
        name: 'figures', type: 'line', data: points, lineStyle: { opacity: 0 }, showSymbol: true, symbol: 'circle', symbolSize: 9,
      }],
    }
  },

  // Steps down from the ceiling to the figure; the bars are thick lines. What nothing explains is grey.
  account(s, _, p) {
    const a = s.account
    const last = a.names.length - 1
    const longest = Math.max(...a.names.map((n) => n.length))
    const colour = (i) => (i === 0 ? p.ceiling : i === last ? p.dirs.read : a.names[i] === 'unexplained' ? p.muted : p.dirs.write)
    const bars = a.names.map((_, i) => ({
      ...rod([[a.to[i], i], { value: [a.from[i], i], label: { show: true, position: 'right', formatter: a.labels[i], color: p.ink, fontSize: 11 } }], colour(i), 13),
      lineStyle: { color: colour(i), width: 13, cap: 'butt' }, showSymbol: true, symbolSize: 0.1,
    }))
    return {
      grid: { left: Math.min(16 + longest * 6.2, 200), right: 110, top: 12, bottom: 26 },
      xAxis: { type: 'value', min: 0, max: nice(a.from[0]), ...side(p), axisLabel: label(p, print.axis(a.from[0])) },
      yAxis: {
        type: 'value', min: -0.6, max: last + 0.6, inverse: true, interval: 1, ...side(p), splitLine: { show: false },
        axisLabel: { ...label(p), customValues: a.names.map((_, i) => i), formatter: (i) => a.names[i] ?? '', width: 180, overflow: 'truncate' },
      },
      series: bars,
    }
  },

  // A figure by run; categories, not time: a week without runs is no news.
  trend(s, _, p) {
    const unit = s.unit === 'bandwidth' ? print.mib : print.iops
    const byRun = (name, values, style, symbols) => ({
      name, type: 'line', data: values, showSymbol: symbols, symbol: 'circle', symbolSize: 6, connectNulls: false,
      lineStyle: { color: p.dirs.read, ...style }, itemStyle: { color: p.dirs.read },
    })
    const most = Math.max(1, ...s.at, ...s.high)
    return {
      grid: { ...grid(), top: 14 }, tooltip: tooltip(p, unit, (x) => x),
      xAxis: {
        type: 'category', data: s.t, axisLine: quiet(p), axisTick: { show: false }, splitLine: { show: false },
        axisLabel: label(p, (x) => String(x).slice(0, 10)),
      },
      yAxis: { type: 'value', min: 0, max: nice(most * 1.08), ...side(p), axisLabel: label(p, print.axis(most)) },
      series: [
        byRun(s.unit, s.at, { width: 1.8 }, true),
        byRun('low', s.low, { width: 1, type: 'dashed' }, false), byRun('high', s.high, { width: 1, type: 'dashed' }, false),
      ],
    }
  },

  // A figure over two options; the cells say it where there is room.
  grid(s, part, p, width) {
    const g = s.grids[part]
    const unit = g.latency ? print.latency : print.iops
    const values = g.cells.map((c) => c[2])
    const [least, most] = [Math.min(...values), Math.max(...values)]
    // Shades are logarithmic where the figures span more than a decade.
    const shade = most / least > 10 ? Math.log : (v) => v
    const wide = width / g.columns.length > 64
    const map = heatMap(p, g.columns, g.rows, g.cells.map(([x, y, v]) => [x, y, shade(v)]), shade(least), Math.max(shade(most), shade(least) + 1e-9), width)
    map.grid = { ...map.grid, left: Math.max(map.grid.left, 46), bottom: 30 }
    map.xAxis.axisLabel = label(p)
    // The dark shades are at the other end of the scale in the other theme: the text takes the shade that is farthest away.
    map.series[0].data = g.cells.map(([x, y, v]) => ({
      value: [x, y, shade(v)],
      label: { show: wide, fontSize: 11, formatter: g.latency ? print.latency(v) : print.plain(v), color: p.heat[(shade(v) - shade(least)) * 2 > shade(most) - shade(least) ? 0 : 4] },
    }))
    return {
      ...map,
      tooltip: {
        ...box(p),
        formatter: ({ dataIndex }) => {
          const [x, y, v] = g.cells[dataIndex]
          return `${print.escape(g.across)}=${print.escape(g.columns[x])}<br>${print.escape(g.down)}=${print.escape(g.rows[y])}<br><b>${unit(v)}</b>`
        },
      },
    }
  },

  // Points are what was measured, lines the fitted curves; an upright bar stands at each knee.
  curve(s, _, p) {
    const most = Math.max(1, ...s.curves.flatMap((c) => c.points.map((q) => q[1])))
    const series = s.curves.flatMap((c, i) => {
      const color = hue(p, i)
      const knee = c.fitted && c.knee != null ? [rod([[c.knee, 0], [c.knee, most * 1.02]], color, 1.2, 'dashed')] : []
      return [
        { name: c.name, type: 'line', data: c.points, showSymbol: true, symbol: 'circle', symbolSize: 7, lineStyle: { width: c.fitted ? 0 : 1.2, color, type: 'dotted' }, itemStyle: { color } },
        ...(c.fitted ? [{ type: 'line', data: c.fitted, showSymbol: false, silent: true, tooltip: { show: false }, lineStyle: { width: 1.6, color }, itemStyle: { color } }] : []),
        ...knee,
      ]
    })
    return {
      grid: grid(), legend: { ...legend(p, s.curves), itemStyle: { opacity: 1 }, data: s.curves.map((c) => c.name) }, tooltip: atPoint(p, print.iops),
      xAxis: inFlight(s, p), yAxis: { type: 'value', min: 0, max: nice(most * 1.05), ...side(p), axisLabel: label(p, print.axis(most)) },
      series,
    }
  },

  waits(s, _, p) {
    const lines = s.curves.map((c, i) => ({
      name: c.name, type: 'line', data: c.latency, showSymbol: true, symbol: 'circle', symbolSize: 6,
      lineStyle: { width: 1.6, color: hue(p, i) }, itemStyle: { color: hue(p, i) },
    }))
    return {
      grid: grid(), legend: { ...legend(p, lines), itemStyle: { opacity: 1 } }, tooltip: atPoint(p, print.latency),
      xAxis: inFlight(s, p), yAxis: { type: 'log', min: decadeBelow(lines), ...side(p), axisLabel: label(p, print.latency) },
      series: lines,
    }
  },

  // The probes of a search: load and latency. The threshold lies across, the bracket is shaded.
  search(s, _, p) {
    const c = s.search
    const loads = c.probes.map((q) => q.load)
    const least = 10 ** Math.floor(Math.log10(Math.min(c.limit, ...c.probes.map((q) => q.latency))))
    const most = nice(Math.max(...loads) * 1.03)
    const points = c.probes.map((q) => ({
      value: [q.load, q.latency],
      itemStyle: q.outcome === 'met' ? { color: p.dirs.read } : { color: p.panel, borderWidth: 2, borderColor: q.outcome === 'missed' ? p.dirs.write : p.muted },
    }))
    const bracket = c.low != null && c.high != null
    return {
      grid: grid(),
      xAxis: { type: 'value', min: 0, max: most, ...side(p), splitLine: { show: false }, axisLabel: label(p, print.axis(most)) },
      yAxis: { type: 'log', min: least, ...side(p), axisLabel: label(p, print.latency) },
      tooltip: {
        ...box(p), trigger: 'item',
        formatter: ({ seriesName, dataIndex }) => {
          const q = c.probes[dataIndex]
          return seriesName === 'probes' ? `${print.iops(q.load)}<br>${print.latency(q.latency)}<br><b>${print.escape(q.outcome)}</b>` : ''
        },
      },
      series: [
        rod([[0, c.limit], [most, c.limit]], p.ceiling, 1.4),
        {
          name: 'probes', type: 'line', data: points, lineStyle: { opacity: 0 }, showSymbol: true, symbol: 'circle', symbolSize: 9,
          ...(bracket && { markArea: { silent: true, itemStyle: { color: p.ramp }, data: [[{ xAxis: c.low }, { xAxis: c.high }]] } }),
        },
      ],
    }
  },

  // What sessions of a database wait for, one on top of the other up to the number of sessions.
  sessions(s, _, p) {
    const layers = s.layers.map((l, i) => ({
      ...line(l.name, s.t, l.sessions, p.layers[i % p.layers.length], { width: 0.5 }), stack: 'sessions', areaStyle: { opacity: 0.75 },
    }))
    const most = Math.max(1, ...s.t.map((_, x) => s.layers.reduce((sum, l) => sum + (l.sessions[x] ?? 0), 0)))
    const max = nice(most)
    return overTime(s, p, layers, (v) => print.plain(v), { type: 'value', min: 0, max, axisLabel: label(p, print.axis(max)) })
  },

  members(s, _, p, width) {
    const cells = []
    s.members.forEach((m, y) => m.util.forEach((v, x) => cells.push([x, y, v])))
    const names = s.members.map((m) => m.name)
    return {
      ...heatMap(p, seconds(s.ht), names, cells, 0, 1, width, true),
      tooltip: { ...box(p), formatter: ({ value: [x, y, z] }) => `${s.ht[x]} s<br>${print.escape(names[y])}<br><b>${print.share(z)}</b> busy` },
    }
  },
}

// hue is the colour of one of several curves.
const hue = (p, i) => [p.dirs.read, p.dirs.write, p.dirs.sync, p.dirs.trim, p.ink, p.muted, p.ceiling][i % 7]

const inFlight = (s, p) => {
  const depths = s.curves.flatMap((c) => c.points.map((q) => q[0]))
  return {
    type: 'log', logBase: 2, min: Math.min(...depths), max: Math.max(...depths), axisLine: quiet(p), axisTick: { show: false },
    splitLine: { show: false }, axisLabel: label(p, (x) => print.plain(x)),
  }
}

const atPoint = (p, unit) => ({
  ...box(p), trigger: 'item', formatter: ({ seriesName, value }) => `${print.escape(seriesName)}<br>${print.plain(value[0])} in flight<br><b>${unit(value[1])}</b>`,
})

function rates(s, p, what, unit, ceiling, lasting) {
  const lines = s.dirs.filter((d) => d[what]).map((d) => line(d.name, s.t, d[what], p.dirs[d.name], { width: 1.8 }))
  if (lines.length > 1) lines.push(line('together', s.t, s.together[what], p.ink, { width: 1.4, type: 'dotted' }))
  const most = Math.max(...lines.flatMap((l) => l.data.map((q) => q[1] ?? 0)))
  const marks = [[ceiling, 'ceiling'], [lasting, 'lasting']].filter(([y]) => y && y < most * 4 && !s.course)
  // Where the run outlasted a burst, the ceiling falls as it runs out.
  const end = s.t.at(-1)
  const course = (s.course ?? []).map((c, i, all) => [all[i - 1]?.until ?? 0, Math.min(c.until || end, end), c[what]])
    .filter(([from, , y]) => from < end && y < most * 4)
  if (course.length) lines.push({ name: 'ceiling', ...rod(course.flatMap(([from, to, y]) => [[from, y], [to, y]]), p.ceiling, 1.2) })
  if (lines[0]) {
    lines[0].markLine = {
      silent: true, symbol: 'none', animation: false,
      data: marks.map(([y, name]) => ({
        yAxis: y, lineStyle: { color: p.ceiling, type: name === 'ceiling' ? 'solid' : 'dashed', width: 1.2 },
        label: { formatter: `${name} ${unit(y)}`, position: 'insideEndTop', color: p.ceiling, fontSize: 11 },
      })),
    }
  }
  const max = nice(Math.max(most, ...marks.map(([y]) => y), ...course.map(([, , y]) => y)) * 1.08)
  return overTime(s, p, lines, unit, { type: 'value', min: 0, max, axisLabel: label(p, print.axis(max)) })
}

// nice is the least round number that is not below v.
function nice(v) {
  const step = 10 ** Math.floor(Math.log10(v || 1))
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((f) => f * step).find((x) => x >= v * (1 - 1e-9)) ?? v
}

function decadeBelow(lines) {
  const least = Math.min(...lines.flatMap((l) => l.data.map((q) => q[1])).filter((v) => v > 0))
  return Number.isFinite(least) ? 10 ** Math.floor(Math.log10(least)) : 1
}

function line(name, t, values, color, style) {
  return {
    name, type: 'line', data: t.map((x, i) => [x, values?.[i] ?? null]), showSymbol: false, symbol: 'circle', symbolSize: 5,
    lineStyle: { color, ...style }, itemStyle: { color },
  }
}

const rod = (data, color, width, type = 'solid') => ({
  type: 'line', data, showSymbol: false, silent: true, lineStyle: { color, width, type }, itemStyle: { color },
})

function describe(q, unit) {
  const lines = [`<b>${print.escape(q.name)}</b>`, unit(q.at)]
  if (q.low != null) lines.push(`95 %: ${unit(q.low)} to ${unit(q.high)}`)
  if (q.ceiling != null) lines.push(`its ceiling: ${unit(q.ceiling)}`)
  if (q.sustained != null) lines.push(`sustained: ${unit(q.sustained)}`)
  return lines.join('<br>')
}

function overTime(s, p, lines, unit, y) {
  if (s.ramp > 0 && lines[0]) {
    lines[0].markArea = {
      silent: true, itemStyle: { color: p.ramp },
      data: [[{ xAxis: 0, name: 'ramp' }, { xAxis: s.ramp }]], label: { color: p.muted, fontSize: 11, position: 'insideTop' },
    }
  }
  return {
    grid: grid(), legend: legend(p, lines), tooltip: tooltip(p, unit, (x) => `${Number(x.toFixed(1))} s`),
    xAxis: {
      type: 'value', min: 0, max: s.t.at(-1), axisLine: quiet(p), axisTick: { show: false }, splitLine: { show: false },
      axisLabel: { ...label(p, (x) => `${Number(x.toFixed(1))} s`), showMaxLabel: false },
    },
    yAxis: { ...side(p), ...y },
    series: lines,
  }
}

const seconds = (t) => t.map((x) => `${x} s`)

function heatMap(p, columns, rows, cells, min, max, width, inverse) {
  const names = Math.max(...rows.map((r) => r.length))
  return {
    grid: { left: Math.min(16 + names * 6.2, 130), right: 10, top: 8, bottom: 26 },
    xAxis: {
      type: 'category', data: columns, axisLine: quiet(p), axisTick: { show: false }, splitArea: { show: false },
      axisLabel: { ...label(p), interval: Math.max(0, Math.ceil(columns.length / Math.max(width / 70, 2)) - 1) },
    },
    yAxis: {
      type: 'category', data: rows, inverse: Boolean(inverse), axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { ...label(p), interval: rows.length > 16 ? Math.ceil(rows.length / 9) - 1 : 0, width: 112, overflow: 'truncate' },
    },
    visualMap: { show: false, min, max, dimension: 2, inRange: { color: p.heat } },
    series: [{ type: 'heatmap', data: cells, itemStyle: { borderWidth: 0 }, emphasis: { itemStyle: { borderColor: p.ink, borderWidth: 1 } } }],
  }
}

const grid = () => ({ left: 62, right: 14, top: 34, bottom: 26 })
const quiet = (p) => ({ lineStyle: { color: p.line } })
const side = (p) => ({ axisLine: { show: false }, axisTick: { show: false }, splitLine: { lineStyle: { color: p.line } }, splitNumber: 4 })
const label = (p, formatter) => ({ color: p.muted, fontSize: 11, hideOverlap: true, ...(formatter && { formatter }) })
const legend = (p, lines) => ({
  show: lines.length > 1, top: 0, right: 4, itemWidth: 22, itemHeight: 8, itemStyle: { opacity: 0 },
  textStyle: { color: p.muted, fontSize: 11 }, inactiveColor: p.line,
})
const box = (p) => ({ confine: true, backgroundColor: p.panel, borderColor: p.line, textStyle: { color: p.ink, fontSize: 12 } })
const tooltip = (p, unit, at) => ({
  ...box(p), trigger: 'axis', valueFormatter: unit,
  axisPointer: { type: 'line', lineStyle: { color: p.muted }, label: { show: false, formatter: ({ value }) => at(value) } },
})

// table gives the same figures to those who do not see the lines.
export function table(s) {
  const columns = [['second', (i) => `${s.t[i]}`]]
  for (const d of s.dirs) {
    if (d.iops) columns.push([d.name === 'transactions' ? 'TPS' : `${d.name} IOPS`, (i) => print.plain(d.iops[i])])
    if (d.bw) columns.push([`${d.name} MiB/s`, (i) => print.plain(d.bw[i])])
    columns.push([`${d.name} p50`, (i) => print.latency(d.p50[i])], [`${d.name} p99`, (i) => print.latency(d.p99[i])])
  }
  if (s.queue) columns.push(['device queue', (i) => print.plain(s.queue[i])])
  if (s.dirty) columns.push(['dirty MiB', (i) => print.plain(s.dirty[i])])
  const t = document.createElement('table')
  const row = (cells, tag, parent) => {
    const tr = parent.insertRow()
    cells.forEach((text) => {
      const cell = document.createElement(tag)
      cell.textContent = text
      if (tag === 'th') cell.scope = 'col'
      tr.append(cell)
    })
  }
  row(columns.map((c) => c[0]), 'th', t.createTHead())
  const body = t.createTBody()
  s.t.forEach((at, i) => row([s.ramp && at <= s.ramp ? `${at} (ramp)` : at, ...columns.slice(1).map((c) => c[1](i))], 'td', body))
  return t
}
