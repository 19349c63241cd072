package running

import (
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// The looks at fio are counted by hand: whatever shows progress begins the count again, and the sixth
// look in a row that sees nothing ends fio, not the fifth.
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
			w := &watch{m: &sys.Machine{Root: fstest.MapFS{}}, end: make(chan struct{})}
			tick, over := make(chan time.Time), make(chan struct{})
			go w.count(tick, func() { close(over) })
			for n := range uint64(5) { // progress before each fifth look
				shows(w, n+1)
				for range looks - 1 {
					tick <- time.Time{}
				}
			}
			shows(w, 99)
			for range looks { // the first sees the progress
				tick <- time.Time{}
			}
			if w.stalled.Load() {
				t.Fatal("ended while it worked")
			}
			tick <- time.Time{}
			<-over
			if !w.stalled.Load() {
				t.Error("not said to have stalled")
			}
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
	if newWatch(nil, &Invocation{}, nil).stop(); completed(root, nil) != "" {
		t.Error("no disk")
	}
}
