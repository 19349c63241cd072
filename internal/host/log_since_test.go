package host

import (
	"slices"
	"testing"
	"time"
)

// What a log says since an earlier look: more lines, or a later one where old lines were forgotten.
func TestLogSince(t *testing.T) {
	const (
		a = "[  100.0] nvme nvme1: I/O 5 QID 2 timeout, reset controller\n"
		b = "[  200.0] nvme nvme1: I/O 64 QID 1 timeout, completion polled\n"
		c = "[  200.0] nvme nvme2: I/O 64 QID 1 timeout, completion polled\n"
		d = "[  300.0] nvme nvme1: I/O tag 5 (c) QID 2 timeout, completion polled\n"
		e = "nvme nvme1: I/O 5 QID 2 timeout, aborting\n"
	)
	for _, tt := range []struct {
		name, before, after string
		want                []string // device, and how many lines
	}{
		{"nothing", "", "[    1.0] nvme nvme1: 2/0/0 default/read/poll queues\n", nil},
		{"the same", a, a, nil},
		{"the first", "", b, []string{"nvme1 1"}},
		{"one more, and another drive's", a, a + b + c, []string{"nvme1 1", "nvme2 1"}},
		{"the old ones forgotten", a + b, d, []string{"nvme1 1"}},
		{"times not printed", e, e + "nvme nvme1: Abort status: 0x0\n", []string{"nvme1 1"}},
	} {
		var got []string
		for _, e := range Since(ParseLog(tt.before), ParseLog(tt.after)) {
			if e.Kind != Timeout || e.Last > 5*time.Minute {
				t.Errorf("%s: %+v", tt.name, e)
			}
			got = append(got, e.Device+" "+string(rune('0'+e.Count)))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
