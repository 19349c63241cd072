package tune

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/finding"
)

// A record sets only what tune sets, to what can stand in a udev rule and a unit.
func TestRecordOfSettings(t *testing.T) {
	const read, governor = "/sys/block/sda/queue/read_ahead_kb", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
	for _, c := range []struct {
		file, value, at string
		ok              bool
	}{
		{read, "64", read, true},
		{"/sys/block/cciss!c0d0/queue/scheduler", "mq-deadline", "/sys/block/cciss!c0d0/queue/scheduler", true},
		{governor, "performance", strings.Replace(governor, "*", "12", 1), true},
		{"/proc/sys/vm/dirty_background_bytes", "593494016", "/proc/sys/vm/dirty_background_bytes", true},
		{read, "64", "/sys/block/sda/queue/write_cache", false},
		{read, "64", "/sys/block/sda/device/delete", false},
		{read, "64", "/sys/block/../queue/read_ahead_kb", false},
		{read, "64", "/proc/sys/vm/mmap_min_addr", false},
		{read, "64", "/proc/sys/vm/swappiness/x", false},
		{governor, "performance", "/sys/devices/system/cpu/cpu1/online", false},
		{strings.Replace(governor, "*", "*; id; ", 1), "performance", strings.Replace(governor, "*", "1", 1), false},
		{read, "64\", RUN+=\"/bin/sh", read, false},
		{"/proc/sys/vm/swappiness", "1\nkernel.core_pattern=|/bin/sh", "/proc/sys/vm/swappiness", false},
		{governor, "$(id)", strings.Replace(governor, "*", "1", 1), false},
	} {
		data, err := json.Marshal(Record{Schema: 1, Changes: []Change{
			{Setting: finding.Setting{File: c.file, Value: c.value}, At: c.at, Old: "0"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseRecord(data); (err == nil) != c.ok {
			t.Errorf("%s, %q, %s: %v", c.file, c.value, c.at, err)
		}
	}
}

// A record brings back no program: of what was there before, only settings of sysctl that tune could
// have made, and for nobody else to write.
func TestRecordOfFiles(t *testing.T) {
	for _, c := range []struct {
		path, old string
		ok        bool
	}{
		{sysctlFile, "# mine\nvm.swappiness = 10\n-vm/dirty_ratio=5\n", true},
		{sysctlOf2, "", true},
		{sysctlFile, "vm.swappiness = 10\nkernel.core_pattern = |/bin/sh\n", false},
		{sysctlFile, "vm.swappiness\n", false},
		{unitFile, head, false},
		{unitFile, "[Service]\nExecStart=/bin/sh -c id\n", false},
		{unitLink, "[Service]\nExecStart=/bin/sh -c id\n", false},
		{udevFile, `ACTION=="add", RUN+="/bin/sh -c id"` + "\n", false},
	} {
		tuner := site(t)
		name := filepath.Join(tuner.Root, c.path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(head+"now"), 0o644); err != nil {
			t.Fatal(err)
		}
		old := []byte(c.old)
		if err := os.MkdirAll(filepath.Dir(tuner.State), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := tuner.save(&Record{Files: []kept{{Path: c.path, Old: &old, Mode: 0o777}}}); err != nil {
			t.Fatal(err)
		}
		_, n, err := tuner.Revert(nil)
		got, _ := os.ReadFile(name)
		info, _ := os.Stat(name)
		switch {
		case c.ok && (n != 1 || err != nil || string(got) != c.old || info.Mode() != 0o644):
			t.Errorf("%s %q: %d back, %v, %q, %v", c.path, c.old, n, err, got, info.Mode())
		case !c.ok && (n != 0 || err == nil || !strings.Contains(err.Error(), c.path) ||
			!strings.Contains(err.Error(), tuner.State) || string(got) != head+"now"):
			t.Errorf("%s %q: %d back, %v, %q", c.path, c.old, n, err, got)
		}
	}
}

// What could not be put back is not replaced.
func TestPersistOverOthers(t *testing.T) {
	tuner := site(t)
	name := filepath.Join(tuner.Root, unitFile)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	const theirs = "[Service]\nExecStart=/usr/bin/theirs\n"
	if err := os.WriteFile(name, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tuner.Apply(plan(t, tuner), true); err == nil || !strings.Contains(err.Error(), unitFile+" holds") {
		t.Error(err)
	}
	if _, _, err := tuner.Revert(nil); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(name); string(got) != theirs {
		t.Errorf("%q", got)
	}
}

func TestUnreadableSetting(t *testing.T) {
	if _, err := site(t).value("/proc/sys/vm/nothing"); err == nil || !strings.Contains(err.Error(), " /proc/sys/vm/nothing") {
		t.Error(err)
	}
}
