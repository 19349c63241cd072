// Numbers as the rest of the report prints them.

const short = (v) => {
  const a = Math.abs(v)
  if (a >= 100 || v === 0) return Math.round(v).toLocaleString('en')
  if (a >= 10) return String(Number(v.toFixed(1)))
  if (a >= 1) return String(Number(v.toFixed(2)))
  return String(Number(v.toPrecision(3)))
}

// latency prints nanoseconds.
export const latency = (ns) => {
  if (ns == null) return '–'
  if (ns < 1e3) return short(ns) + ' ns'
  if (ns < 1e6) return short(ns / 1e3) + ' µs'
  if (ns < 1e9) return short(ns / 1e6) + ' ms'
  return short(ns / 1e9) + ' s'
}
export const iops = (v) => (v == null ? '–' : short(v) + ' IOPS')
export const tps = (v) => (v == null ? '–' : short(v) + ' TPS')
export const mib = (v) => (v == null ? '–' : short(v) + ' MiB/s')
export const share = (v) => (v == null ? '–' : short(v * 100) + ' %')
export const plain = (v) => (v == null ? '–' : short(v))
// axis prints the ticks of an axis that ends at most, all in one way: 0, 5k, 10k and not 0, 5,000, 10k.
export const axis = (most) => (v) => {
  const [size, letter] = most >= 1e6 ? [1e6, 'M'] : most >= 1e4 ? [1e3, 'k'] : [1, '']
  return v === 0 ? '0' : short(v / size) + letter
}

// percentile names a point of the axis of nines, whose x is 1/(1-p): 100 is the 99th.
export const percentile = (x) => {
  const p = 100 * (1 - 1 / x)
  const digits = Math.max(0, Math.ceil(Math.log10(x)) - 2)
  return 'p' + p.toFixed(Math.min(digits, 6)).replace(/\.0+$/, '')
}

// escape is for tooltips, which are HTML: device names come from outside.
export const escape = (s) => String(s).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
