package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// One group shares the lock; another group, and who wants it alone, is refused until the last has
// left.
func TestGroupSharesALock(t *testing.T) {
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	if err := os.WriteFile(filepath.Join(d.Name(), "lock"), []byte("a group that is gone, whose name is longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := 0
	begin := func() error { begun++; return nil }
	a, err := d.LockGroup("lock", "fleet-1", begin)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.LockGroup("lock", "fleet-1", begin)
	if err != nil || begun != 1 {
		t.Fatalf("%v, begun %d times", err, begun)
	}
	refused := func(when string) {
		t.Helper()
		if _, _, err := d.lockGroup("lock", "fleet-2", begin); !errors.Is(err, ErrLocked) {
			t.Errorf("%s another group gets it: %v", when, err)
		}
		if _, err := d.Lock("lock"); !errors.Is(err, ErrLocked) {
			t.Errorf("%s one alone gets it: %v", when, err)
		}
	}
	refused("held by two:")
	if last, done := a.Leave(); last {
		t.Error("the first to leave is taken for the last")
	} else {
		done()
	}
	refused("held by one:")
	last, done := b.Leave()
	if !last {
		t.Error("the last to leave is not known as such")
	}
	refused("until done:")
	done()
	release, err := d.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.lockGroup("lock", "fleet-1", begin); !errors.Is(err, ErrLocked) {
		t.Errorf("the group gets what one has alone: %v", err)
	}
	release()
}

// However many begin at once, all of one group get in, none while another begins, and one leaves as
// the last. The clock stands still while one of them is at work, so a busy machine changes nothing.
func TestGroupBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close() //nolint:errcheck // only a handle
		for round := range 20 {
			var inside, last atomic.Int32
			begin := func() error {
				if n := inside.Load(); n > 0 {
					t.Errorf("begun while %d are in", n)
				}
				return nil
			}
			var in, out sync.WaitGroup
			in.Add(8)
			for range 8 {
				out.Go(func() {
					l, err := d.LockGroup("lock", fmt.Sprint("fleet-", round), begin)
					inside.Add(1)
					in.Done()
					if err != nil {
						t.Error(err)
						return
					}
					in.Wait() // all are in before one leaves
					wasLast, done := l.Leave()
					if wasLast {
						last.Add(1)
					}
					done()
				})
			}
			out.Wait()
			if last.Load() != 1 {
				t.Fatalf("round %d: %d left as the last", round, last.Load())
			}
		}
	})
}

// A member waits for another that begins, as long as a busy disk may take. Another group is refused
// after 2 s, and after 10 s where one process has the lock alone: it could have been a member.
func TestGroupWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close() //nolint:errcheck // only a handle
		var first *SharedLock
		var one sync.WaitGroup
		one.Go(func() {
			var err error
			first, err = d.LockGroup("lock", "fleet-1", func() error { time.Sleep(9 * time.Second); return nil })
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // the first has the lock and begins
		second, err := d.LockGroup("lock", "fleet-1", func() error { t.Error("begun twice"); return nil })
		if err != nil {
			t.Fatal(err)
		}
		one.Wait()
		none := func() error { t.Error("begun"); return nil }
		refused := func(what string, after time.Duration) {
			t.Helper()
			start := time.Now()
			_, err := d.LockGroup("lock", "fleet-2", none)
			if took := time.Since(start); !errors.Is(err, ErrLocked) || took < after || took > after+2*groupPause {
				t.Errorf("%s: %v after %v, want a refusal after %v", what, err, took, after)
			}
		}
		refused("another group", 2*time.Second)
		for _, g := range []*SharedLock{first, second} {
			_, done := g.Leave()
			done()
		}
		release, err := d.Lock("lock")
		if err != nil {
			t.Fatal(err)
		}
		refused("one alone", 10*time.Second)
		release()
	})
}
