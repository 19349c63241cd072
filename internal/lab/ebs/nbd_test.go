package ebs

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"plimsoll/internal/sys/bounded"
)

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// FuzzRequest: whatever a request says, one that passes the check lies within the volume.
func FuzzRequest(f *testing.F) {
	seed := be.AppendUint32(nil, magicRequest)
	f.Add(append(seed, make([]byte, 24)...))
	bounded.Fuzz(f, func(t *testing.T, b []byte) {
		if len(b) < requestSize {
			return
		}
		const size = 1 << 30
		r, err := parseRequest((*[requestSize]byte)(b))
		if err != nil || r.check(size) != nbdOK {
			return
		}
		if r.kind == cmdFlush || r.kind == cmdDisconnect {
			return
		}
		if r.off < 0 || r.n <= 0 || r.off+r.n > size {
			t.Errorf("%+v passed", r)
		}
	})
}

// FuzzNegotiate: no client can make the server panic, wait or hand out what it does not have.
func FuzzNegotiate(f *testing.F) {
	v := &Volume{name: "v", size: 1 << 20}
	f.Add([]byte("\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x01\x00\x00\x00\x01v"))
	f.Add([]byte("\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00\x01v\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x01IHAVEOPT\x00\x00\x00\x03\x00\x00\x00\x00IHAVEOPT\x00\x00\x00\x02\x00\x00\x00\x00"))
	bounded.Fuzz(f, func(t *testing.T, b []byte) {
		got, err := negotiate(bufio.NewReader(bytes.NewReader(b)), io.Discard, func() map[string]*Volume { return map[string]*Volume{"v": v} })
		if (got == nil) == (err == nil) || got != nil && got != v {
			t.Errorf("volume %v, error %v", got, err)
		}
	})
}

// FuzzBitmap holds the bitmap to a plain slice.
func FuzzBitmap(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 4, 5})
	bounded.Fuzz(f, func(t *testing.T, b []byte) {
		m := newBitmap(256*4, 2)
		var plain [256]bool
		for ; len(b) >= 3; b = b[3:] {
			off, n, on := int64(b[0])*4, int64(b[1])+1, b[2]&1 == 0
			if off+n > 256*4 {
				continue
			}
			changed := 0
			for i := range plain {
				lo, hi := int64(i)*4, int64(i)*4+4
				in := lo < off+n && off < hi
				if !on {
					in = lo >= off && hi <= off+n
				}
				if in && plain[i] != on {
					plain[i] = on
					changed++
				}
			}
			if got := m.set(off, n, on); got != changed {
				t.Fatalf("set(%d, %d, %v) changed %d, want %d", off, n, on, got, changed)
			}
			for i := range plain {
				if m.any(int64(i)*4, 4) != plain[i] {
					t.Fatalf("block %d is %v", i, !plain[i])
				}
			}
		}
	})
}
