package running

import (
	"context"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Looks are a second apart: whatever shows progress begins the count again, and the sixth look in a row
// that sees nothing ends fio, not the fifth. Progress is shown between two looks.
func TestWatchCountsItsLooks(t *testing.T) {
	doc := func(j fio.Job) *fio.Output { return &fio.Output{Jobs: []fio.Job{j}} }
	for name, shows := range map[string]func(w *watch, n uint64){
		"counts":      func(w *watch, n uint64) { w.saw(doc(fio.Job{Read: fio.Direction{N: n}})) },
		"bytes":       func(w *watch, n uint64) { w.saw(doc(fio.Job{Write: fio.Direction{Bytes: units.Bytes(n)}})) },
		"trims":       func(w *watch, n uint64) { w.saw(doc(fio.Job{Trim: fio.Direction{N: n}})) },
		"mixed":       func(w *watch, n uint64) { w.saw(doc(fio.Job{Mixed: &fio.Direction{N: n}})) },
		"falling":     func(w *watch, n uint64) { w.saw(doc(fio.Job{Read: fio.Direction{N: 1000 - n}})) },
		"two of them": func(w *watch, n uint64) { w.saw(&fio.Output{Jobs: []fio.Job{{}, {Read: fio.Direction{N: n}}}}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run, cancel := context.WithCancel(t.Context())
				w := newWatch(&sys.Machine{Root: fstest.MapFS{}}, &Invocation{Stall: looks * time.Second}, cancel)
				defer w.stop()
				time.Sleep(time.Second / 2)
				for n := range uint64(5) { // progress before each sixth look
					shows(w, n+1)
					time.Sleep(looks * time.Second)
				}
				if w.stalled.Load() {
					t.Fatal("ended while it worked")
				}
				time.Sleep(time.Second)
				if run.Err() == nil || !w.stalled.Load() {
					t.Error("not ended after six looks that saw nothing")
				}
			})
		})
	}
	w := &watch{end: make(chan struct{})}
	close(w.end)
	w.count(nil, func() { t.Error("ended by itself") })
}

// What a disk has completed, by its fields 1, 5, 12 and 16.
func TestWhatDisksCompleted(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/block/a/stat": {Data: []byte("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n")},
		"sys/class/block/b/stat": {Data: []byte("21 22 23 24 25\n")},
	}
	if got := completed(root, []string{"a", "gone", "b"}); got != "1 5 12 16 21 25" {
		t.Error(got)
	}
	if newWatch(sys.Host(), &Invocation{}, nil).stop(); completed(root, nil) != "" {
		t.Error("no disk")
	}
}
