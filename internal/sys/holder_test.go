package sys

import (
	"testing"

	"plimsoll/internal/sys/bounded"
)

func TestHolderIn(t *testing.T) {
	const locks = `1: POSIX  ADVISORY  WRITE 11 00:05:100 0 EOF
2: FLOCK  ADVISORY  READ -1 00:05:100 0 EOF
3: FLOCK  ADVISORY  READ 345 00:05:100 0 EOF
3: -> FLOCK  ADVISORY  WRITE 400 00:05:100 0 EOF
4: FLOCK  ADVISORY  WRITE 500 103:0a:7 0 EOF
5: -> FLOCK  ADVISORY  WRITE 600 00:05:101 0 EOF
`
	for _, c := range []struct {
		major, minor uint32
		inode        uint64
		want         int
	}{{0, 5, 100, 345}, {0x103, 10, 7, 500}, {0, 5, 101, 0}, {0, 6, 100, 0}} {
		dev := uint64(c.minor&0xff) | uint64(c.major)<<8
		if got := holderIn([]byte(locks), dev, c.inode); got != c.want {
			t.Errorf("%d:%d:%d: %d, want %d", c.major, c.minor, c.inode, got, c.want)
		}
	}
}

func FuzzLocks(f *testing.F) {
	f.Add([]byte("1: FLOCK  ADVISORY  READ 345 00:05:100 0 EOF\n"))
	bounded.Fuzz(f, func(t *testing.T, locks []byte) {
		if pid := holderIn(locks, 5, 100); pid < 0 {
			t.Error(pid)
		}
	})
}
