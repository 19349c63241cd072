package sys_test

import (
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/sys"
)

// Whatever starts at the same time, a program of the caller has the handles, and one of another user has
// none.
func TestHandlesAreInheritedByTheCallersProgramsOnly(t *testing.T) {
	dir, err := sys.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close() //nolint:errcheck // only a handle
	m := sys.Host()
	const each = 100
	var both sync.WaitGroup
	both.Go(func() {
		for n := range each {
			if err := m.Run(t.Context(), io.Discard, "test", "-d", dir.Path()); err != nil {
				t.Errorf("the caller's program %d: %s is not there: %v", n, dir.Path(), err)
				return
			}
		}
	})
	both.Go(func() {
		for n := range each {
			c := sys.Child{Argv: []string{"test", "!", "-e", dir.Path()}, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
			if _, err := c.Run(t.Context(), time.Minute); err != nil {
				t.Errorf("the other's program %d: %s is there: %v", n, dir.Path(), err)
				return
			}
		}
	})
	both.Go(func() {
		for range 20 * each { // numbers of descriptors are used again and again
			if d, err := dir.OpenSub("."); err == nil {
				_ = d.Close()
			}
			if _, free, err := sys.MemFile("x", []byte("x")); err != nil {
				t.Error(err)
			} else {
				free()
			}
		}
	})
	both.Wait()
}
