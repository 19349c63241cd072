package ebs

import "io"

// cache is a drive's volatile write cache: writes in the order of their coming.
type cache struct {
	writes []cachedWrite
	bytes  int64
}

type cachedWrite struct {
	off  int64
	data []byte
}

// cacheSize is when the oldest writes are destaged, as a drive with so much DRAM would.
const cacheSize = 64 << 20

func (c *cache) add(to io.WriterAt, p []byte, off int64) error {
	c.writes = append(c.writes, cachedWrite{off, p})
	c.bytes += int64(len(p))
	n := 0
	for c.bytes > cacheSize {
		c.bytes -= int64(len(c.writes[n].data))
		n++
	}
	return c.destage(to, n)
}

// destage writes out the first n writes.
func (c *cache) destage(to io.WriterAt, n int) error {
	for _, w := range c.writes[:n] {
		if _, err := to.WriteAt(w.data, w.off); err != nil {
			return err
		}
	}
	clear(c.writes[:n])
	c.writes = c.writes[n:]
	return nil
}

func (c *cache) flush(to io.WriterAt) error {
	c.bytes = 0
	return c.destage(to, len(c.writes))
}

// flushRange makes room for a write that goes round the cache: what is cached of the range, and all
// before it, is destaged first, or it would overwrite the newer data later.
func (c *cache) flushRange(to io.WriterAt, off, n int64) error {
	last := 0
	for i, w := range c.writes {
		if w.off < off+n && off < w.off+int64(len(w.data)) {
			last = i + 1
		}
	}
	for _, w := range c.writes[:last] {
		c.bytes -= int64(len(w.data))
	}
	return c.destage(to, last)
}

// overlay puts cached data over p, which was read at off.
func (c *cache) overlay(p []byte, off int64) {
	for _, w := range c.writes {
		from, to := max(off, w.off), min(off+int64(len(p)), w.off+int64(len(w.data)))
		if from < to {
			copy(p[from-off:to-off], w.data[from-w.off:to-w.off])
		}
	}
}

// bitmap marks blocks of 1<<shift bytes.
type bitmap struct {
	shift uint
	words []uint64
}

func newBitmap(size int64, shift uint) bitmap {
	return bitmap{shift, make([]uint64, size>>shift>>6+1)}
}

func (b bitmap) any(off, n int64) bool {
	for i := off >> b.shift; i <= (off+n-1)>>b.shift; i++ {
		if b.words[i>>6]&(1<<(i&63)) != 0 {
			return true
		}
	}
	return false
}

// set marks the blocks that the range touches, or with on false unmarks those it covers wholly, and
// returns how many changed.
func (b bitmap) set(off, n int64, on bool) (changed int) {
	first, end := off>>b.shift, (off+n-1)>>b.shift+1
	if !on {
		first, end = (off+1<<b.shift-1)>>b.shift, (off+n)>>b.shift
	}
	for i := first; i < end; i++ {
		if bit := uint64(1) << (i & 63); on != (b.words[i>>6]&bit != 0) {
			b.words[i>>6] ^= bit
			changed++
		}
	}
	return changed
}
