package suite

import (
	"os"
	"path/filepath"
	"testing"
)

// A variable that was set when results were measured need not be set to read their job file: the
// ramp in it tells how many of a device's I/Os were measured.
func TestMeasuredJobFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "round")
	text := "[r]\nrw=randread\nramp_time=50\nwrite_bw_log=${PLIMSOLL_NEVER_SET}_x\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := JobFile(name); err == nil {
		t.Error("a job file to run is read without its variable")
	}
	job, err := MeasuredJobFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if ramp, _ := job.Effective(job.Jobs()[0]).Get("ramp_time"); ramp != "50" {
		t.Errorf("ramp_time is %q", ramp)
	}
}
