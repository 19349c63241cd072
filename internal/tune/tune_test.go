package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
)

// more is what block's captured machine lacks: it holds block devices alone.
var more = map[string]string{
	"proc/sys/vm/dirty_bytes": "0\n", "proc/sys/vm/dirty_ratio": "20\n", "proc/sys/vm/swappiness": "60\n",
	"proc/sys/vm/dirty_background_bytes": "0\n", "proc/sys/vm/dirty_background_ratio": "40\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":    "powersave\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":    "powersave\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave\n",
	"sys/devices/system/cpu/cpu0/cpuidle/state3/disable":      "0\n",
	"sys/devices/system/cpu/cpu0/cpuidle/state3/latency":      "133\n",
	"sys/devices/system/cpu/cpu1/cpuidle/state3/disable":      "1\n",
	"sys/devices/system/cpu/cpu1/cpuidle/state3/latency":      "133\n",
	"sys/class/block/nvme1n1/queue/scheduler":                 "none [mq-deadline] kyber\n",
	"sys/class/block/md0/queue/read_ahead_kb":                 "0\n",
	"etc/sysctl.d/zz-plimsoll.conf":                           "# an admin's own file\nvm.swappiness = 60",
	"etc/hostname":                                            "host\n",
}

// site is a captured machine as a tree of files that can be written, with the kernel's answers to
// what is written.
func site(t *testing.T) *Tuner {
	t.Helper()
	return siteOf(t, "ec2-4xgp2-raid0")
}

func siteOf(t *testing.T, name string) *Tuner {
	t.Helper()
	archive, err := os.ReadFile("../block/testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, block.Captured(archive)); err != nil {
		t.Fatal(err)
	}
	for name, text := range more {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("class/block", filepath.Join(dir, "sys/block")); err != nil {
		t.Fatal(err)
	}
	tuner := &Tuner{Root: dir, State: filepath.Join(t.TempDir(), "lib", "tune.json"), Machine: &sys.Machine{
		Root: os.DirFS(dir),
		Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		},
	}}
	tuner.Put = func(name string, data []byte) error { return kernel(dir, name, string(data)) }
	return tuner
}

// kernel writes a setting as the kernel does: of a choice it shows all with one in brackets, bytes
// and ratios set each other to 0, and no bytes are no limit.
func kernel(dir, name, value string) error {
	file := filepath.Join(dir, name)
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if strings.Contains(string(old), "[") {
		plain := strings.NewReplacer("[", "", "]", "").Replace(string(old))
		return os.WriteFile(file, []byte(strings.Replace(plain, value, "["+value+"]", 1)), 0o644)
	}
	for from, to := range map[string]string{"_bytes": "_ratio", "_ratio": "_bytes"} {
		base, ok := strings.CutSuffix(file, from)
		if !ok {
			continue
		}
		if value == "0" {
			return syscall.EINVAL
		}
		if err := os.WriteFile(base+to, []byte("0\n"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(value+"\n"), 0o644)
}

// tree is every file below the root with its content, links as where they lead.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(name)
			all[rel] = "-> " + to
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		all[rel] = string(data)
		if info.Mode().Perm() != 0o644 {
			all[rel] += info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func changed(before, after map[string]string) map[string]string {
	d := map[string]string{}
	for name, text := range after {
		if before[name] != text {
			d[name] = text
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			d[name] = "(gone)"
		}
	}
	return d
}

// advised judges the machine as check does.
func advised(t *testing.T, tuner *Tuner) (*block.Tree, []finding.Finding) {
	t.Helper()
	top, err := topology.Detect(t.Context(), tuner.Machine, map[topology.Role]string{topology.Data: "/dev/md0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := host.Read(t.Context(), tuner.Machine)
	f.Memory.Swaps = []string{"/dev/vda2"}
	return top.Tree, rules.Judge(&diagnose.Case{Topology: top, Host: f}, nil)
}

func plan(t *testing.T, tuner *Tuner, only ...Group) []Change {
	t.Helper()
	devices, found := advised(t, tuner)
	all, err := tuner.Plan(devices, found, only)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestApplyAndRevert(t *testing.T) {
	tuner := site(t)
	before := tree(t, tuner.Root)
	changes := plan(t, tuner)
	if err := tuner.Apply(changes, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"proc/sys/vm/dirty_bytes": "2373976064\n", "proc/sys/vm/dirty_ratio": "0\n", "proc/sys/vm/swappiness": "1\n",
		"proc/sys/vm/dirty_background_bytes": "593494016\n", "proc/sys/vm/dirty_background_ratio": "0\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state3/disable":   "1\n",
		"sys/class/block/nvme1n1/queue/scheduler":              "[none] mq-deadline kyber\n",
		"sys/class/block/md0/queue/read_ahead_kb":              "512\n",
	}
	if d := cmp.Diff(want, changed(before, tree(t, tuner.Root))); d != "" {
		t.Error(d)
	}
	if again := plan(t, tuner); len(again) > 0 {
		t.Errorf("after tuning there is still to change: %+v", again)
	}
	settings, files, err := tuner.Revert(nil)
	if err != nil || settings != 8 || files != 0 {
		t.Errorf("%d settings and %d files put back, want 8 and 0: %v", settings, files, err)
	}
	if d := changed(before, tree(t, tuner.Root)); len(d) > 0 {
		t.Errorf("not as before: %v", d)
	}
	if _, err := os.Stat(tuner.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the record is still there: %v", err)
	}
	if settings, files, err := tuner.Revert(nil); settings+files != 0 || err != nil {
		t.Errorf("a second revert did something: %d %d %v", settings, files, err)
	}
}

// On machines of Azure and Google Cloud the same settings are tuned, and only those that are theirs.
func TestOtherClouds(t *testing.T) {
	for _, name := range []string{"azure-d8s-v5", "google-n2-standard-8"} {
		tuner := siteOf(t, name)
		top, err := topology.Detect(t.Context(), tuner.Machine, map[topology.Role]string{topology.Data: "/data"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &diagnose.Case{Topology: top, Host: host.Read(t.Context(), tuner.Machine)}
		changes, err := tuner.Plan(top.Tree, rules.Judge(c, nil), nil)
		if err != nil || len(changes) == 0 {
			t.Fatalf("%s: %v %v", name, changes, err)
		}
		for _, c := range changes {
			for _, word := range []string{"EBS", "EC2", "AWS", "nvme_core"} {
				if strings.Contains(fmt.Sprintf("%+v", c), word) {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
		if err := tuner.Apply(changes, false); err != nil {
			t.Fatal(name, err)
		}
		if n, _, err := tuner.Revert(nil); err != nil || n != len(changes) {
			t.Errorf("%s: %d of %d are as they were: %v", name, n, len(changes), err)
		}
	}
}

func TestOnlyWhatIsAsked(t *testing.T) {
	tuner := site(t)
	for _, g := range []Group{Queues, CPU, Memory} {
		for _, c := range plan(t, tuner, g) {
			if got, ok := groupOf(c.At); !ok || got != g {
				t.Errorf("--%s would change %s", g, c.At)
			}
		}
	}
	if n := len(plan(t, tuner, Queues, CPU, Memory)); n != 8 {
		t.Errorf("%d changes, want 8", n)
	}
	for _, file := range []string{"/etc/passwd", "/sys/block/../../etc/passwd", "/proc/sys/kernel/panic"} {
		if _, err := tuner.Plan(nil, []finding.Finding{{Settings: []finding.Setting{{File: file, Value: "1"}}}}, nil); err == nil {
			t.Errorf("%s may be set", file)
		}
	}
}

// Tuning twice, and persisting in between, goes back to the first state; a device that changed its
// name meanwhile is found.
func TestPersistAndRevert(t *testing.T) {
	tuner := site(t)
	if err := os.Chmod(filepath.Join(tuner.Root, sysctlFile), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, tuner.Root)
	if err := tuner.Apply(plan(t, tuner, Queues), false); err != nil {
		t.Fatal(err)
	}
	if err := tuner.Apply(plan(t, tuner), true); err != nil { // the queues are tuned already, and must be persisted too
		t.Fatal(err)
	}
	after := tree(t, tuner.Root)
	uuid := regexp.MustCompile(`[0-9a-f]{8}(:[0-9a-f]{8}){3}`)
	want := map[string]string{
		strings.TrimPrefix(udevFile, "/"): head +
			`ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ATTRS{serial}=="vol0a1b2c3d4e5f60021", ATTR{queue/scheduler}="none"` + "\n" +
			`ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{MD_UUID}=="UUID", ATTR{queue/read_ahead_kb}="512"` + "\n",
		strings.TrimPrefix(sysctlFile, "/"): head + "vm.dirty_background_bytes = 593494016\nvm.dirty_bytes = 2373976064\nvm.swappiness = 1\n",
		strings.TrimPrefix(unitFile, "/"): head + `[Unit]
Description=Settings made by plimsoll tune

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > "$$f"; done'
ExecStart=/bin/sh -c 'for f in /sys/devices/system/cpu/cpu*/cpuidle/state3/disable; do echo 1 > "$$f"; done'

[Install]
WantedBy=multi-user.target
`,
		strings.TrimPrefix(unitLink, "/"): "-> " + unitFile,
	}
	for name, text := range want {
		got := uuid.ReplaceAllString(after[name], "UUID")
		if got != text {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, text)
		}
	}
	rename := func(from, to string) {
		if err := os.Rename(filepath.Join(tuner.Root, "sys/class/block", from), filepath.Join(tuner.Root, "sys/class/block", to)); err != nil {
			t.Fatal(err)
		}
	}
	rename("nvme1n1", "nvme9n1")
	if _, _, err := tuner.Revert(nil); err != nil {
		t.Fatal(err)
	}
	rename("nvme9n1", "nvme1n1")
	if d := changed(before, tree(t, tuner.Root)); len(d) > 0 {
		t.Errorf("not as before: %v", d)
	}
}

// One command at a time has the record, and what it locks is gone with it.
func TestRecordIsHeldByOne(t *testing.T) {
	tuner, again := site(t), &Tuner{}
	*again = *tuner
	release, err := tuner.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Hold(); err == nil || !strings.Contains(err.Error(), "is in use by another plimsoll") {
		t.Errorf("held twice: %v", err)
	}
	if err := tuner.Apply(plan(t, tuner), false); err != nil {
		t.Errorf("whoever holds it cannot set anything: %v", err)
	}
	release()
	if left, err := filepath.Glob(tuner.State + ".lock"); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
	if release, err = again.Hold(); err != nil {
		t.Fatal(err)
	}
	release()
}

// What has the name of a file of tune's by the time of --revert, and is none, stays and is named.
func TestRevertLeavesFilesOfOthers(t *testing.T) {
	for file, swap := range map[string]func(name string) error{
		udevFile:   func(name string) error { return os.WriteFile(name, []byte(head+"# of the storage team\n"), 0o644) },
		sysctlFile: func(name string) error { return os.Symlink("elsewhere", name) },
		unitFile:   func(name string) error { return os.Mkdir(name, 0o755) },
		unitLink:   func(name string) error { return os.Symlink("/elsewhere", name) },
	} {
		tuner := site(t)
		if err := tuner.Apply(plan(t, tuner), true); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(tuner.Root, file)
		if err := errors.Join(os.Remove(name), swap(name)); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(name)
		_, _, err := tuner.Revert(nil)
		if err == nil || !strings.Contains(err.Error(), file+" is not what tune wrote: it stays") {
			t.Errorf("%s: %v", file, err)
		}
		if err := tuner.Apply(plan(t, tuner), true); err == nil && file != unitLink { // enabled by others, it stays
			t.Errorf("%s is written over", file)
		}
		if after, err := os.Lstat(name); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is gone: %v", file, err)
		}
	}
}

// Whatever write fails, the record holds enough to go back.
func TestFailureAnywhere(t *testing.T) {
	for fail := range 8 {
		tuner := site(t)
		before := tree(t, tuner.Root)
		changes := plan(t, tuner)
		put, n := tuner.Put, 0
		tuner.Put = func(name string, data []byte) error {
			if n++; n == fail+1 {
				return fs.ErrPermission
			}
			return put(name, data)
		}
		err := tuner.Apply(changes, true)
		if !errors.Is(err, fs.ErrPermission) {
			t.Fatalf("write %d failed and apply said %v", fail, err)
		}
		if n := len(tuner.InForce(changes)); n != fail {
			t.Errorf("write %d failed, and %d are said to be in force", fail, n)
		}
		tuner.Put = put
		if _, _, err := tuner.Revert(nil); err != nil {
			t.Fatal(err)
		}
		if d := changed(before, tree(t, tuner.Root)); len(d) > 0 {
			t.Errorf("write %d failed; not as before: %v", fail, d)
		}
	}
}

// Where only the files fail the settings are in force, and it is said (review of 2026-11-26, M4).
func TestPersistFails(t *testing.T) {
	tuner := site(t)
	if err := os.RemoveAll(filepath.Join(tuner.Root, "etc/sysctl.d")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tuner.Root, "etc/sysctl.d"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	changes := plan(t, tuner)
	err := tuner.Apply(changes, true)
	if err == nil || !strings.Contains(err.Error(), "in force, but a reboot undoes them") || len(tuner.InForce(changes)) != len(changes) {
		t.Errorf("%d of %d in force: %v", len(tuner.InForce(changes)), len(changes), err)
	}
	if _, _, err := tuner.Revert(nil); err != nil || len(tuner.InForce(changes)) > 0 {
		t.Errorf("%d in force after a revert: %v", len(tuner.InForce(changes)), err)
	}
}

func TestHostileSerial(t *testing.T) {
	c := Change{
		Setting: finding.Setting{File: "/sys/block/vda/queue/scheduler", Value: "none"}, At: "/sys/block/vda/queue/scheduler",
		Device: identity{Serial: "x\", RUN+=\"/bin/sh\n"},
	}
	if out, err := files([]Change{c}); err == nil {
		t.Errorf("wrote %q", out)
	}
}

// FuzzRecord: whatever a record says, what would be put back is a setting or a file that tune sets.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"schema":1,"changes":[{"at":"/sys/block/sda/queue/nr_requests","old":"1","device":{"serial":"x"}}],"files":[{"path":"/etc/sysctl.d/99-plimsoll.conf"}]}`))
	f.Add([]byte(`{"changes":[{"at":"/proc/sys/vm/dirty_bytes","old":"0","back":{"file":"/proc/sys/vm/../../etc/x"}}]}`))
	f.Add([]byte(`{"changes":[{"at":"/sys/block/x","device":{"kernel":"x"}}]}`))
	tree := &block.Tree{Devices: map[string]*block.Device{"sdb": {Name: "sdb", Kind: block.Disk, Serial: "x"}}}
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		for _, c := range r.Changes {
			for _, at := range []string{c.where(tree), c.where(nil)} {
				if _, ok := groupOf(at); !ok && !strings.HasPrefix(at, "/sys/block/gone/") {
					t.Errorf("%q would be set", at)
				}
			}
		}
		for _, k := range r.Files {
			if !strings.HasPrefix(k.Path, "/etc/") || filepath.Clean(k.Path) != k.Path {
				t.Errorf("%q would be replaced", k.Path)
			}
		}
		_, _ = files(r.Changes)
	})
}

// Who else sets what tune sets is named, where it does so later.
func TestRivals(t *testing.T) {
	set := func(file, value string) Change {
		return Change{At: file, Setting: finding.Setting{File: file, Value: value}}
	}
	changes := []Change{
		set("/proc/sys/vm/swappiness", "1"), set("/proc/sys/vm/dirty_bytes", "1073741824"),
		set("/sys/block/md0/queue/read_ahead_kb", "64"), set("/sys/block/nvme1n1/queue/scheduler", "none"),
		set("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
	}
	const (
		enabled = "etc/systemd/system/multi-user.target.wants/tuned.service"
		active  = "etc/tuned/active_profile"
		base    = "usr/lib/tuned/throughput-performance/tuned.conf"
		own     = "etc/tuned/profiles/db/tuned.conf"
		parent  = "[main]\nsummary=x\n[disk]\nreadahead=>4096\n[sysctl]\nvm.swappiness=10\n[cpu]\ngovernor=performance\n"
	)
	files := func(pairs ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return m
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  []string // one for each rival
	}{
		"nobody":                 {files(), nil},
		"tuned, unknown profile": {files(active, "mine\n", enabled, ""), []string{`tuned (profile "mine") may set`}},
		"tuned, not in use":      {files(active, "throughput-performance\n", base, parent), nil},
		"tuned": {
			files(active, "throughput-performance\n", enabled, "", base, parent),
			[]string{`sets readahead to ">4096" (/` + base + ")", `sets vm.swappiness to "10"`},
		},
		"tuned, with sysctl.d after it": {
			files(active, "a", enabled, "", "etc/tuned/a/tuned.conf", "[sysctl]\nvm.swappiness=10\n"),
			[]string{"--persist has the last word"},
		},
		"tuned, without": {
			files(active, "a", enabled, "", "etc/tuned/a/tuned.conf", "[sysctl]\nvm.swappiness=10\n",
				"etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"), []string{"a profile of yours"},
		},
		"tuned, a profile that includes it and agrees": {
			files(active, "db\n", enabled, "", base, parent,
				own, "[main]\ninclude=throughput-performance\n[disk]\nreadahead=64\n[sysctl]\nvm.swappiness = 1\n"), nil,
		},
		"tuned, a profile that includes it and agrees in part": {
			files(active, "db\n", enabled, "", base, parent, own, "[main]\ninclude=throughput-performance\n[disk]\nreadahead=64\n"),
			[]string{`sets vm.swappiness to "10" (/` + base + ")"},
		},
		"tuned, a profile that includes itself": {files(active, "db", enabled, "", own,
			"[main]\ninclude=db\n[vm]\ndirty_ratio=40\n"), []string{"sets dirty_ratio"}},
		"sysctl.conf": {
			files("etc/sysctl.conf", "# x\nvm.swappiness=60\n"),
			[]string{"/etc/sysctl.conf sets"},
		},
		"the ratio": {
			files("etc/sysctl.d/zzz.conf", "-vm/dirty_ratio = 20"),
			[]string{"/etc/sysctl.d/zzz.conf sets"},
		},
		"read before":     {files("etc/sysctl.d/99-sysctl.conf", "vm.swappiness=60"), nil},
		"the same":        {files("etc/sysctl.conf", "vm.swappiness = 1"), nil},
		"another setting": {files("etc/sysctl.conf", "vm.dirty_background_bytes = 1"), nil},
		"masked by its name": {files("etc/sysctl.d/zzz.conf", "", "usr/lib/sysctl.d/zzz.conf",
			"vm.swappiness = 60"), nil},
		"a later rule of udev": {
			files("etc/udev/rules.d/zzz.rules", `# x`+"\n"+`KERNEL=="md*", ATTR{bdi/read_ahead_kb}="4096"`),
			[]string{"/etc/udev/rules.d/zzz.rules"},
		},
		"an earlier rule of udev": {files("usr/lib/udev/rules.d/60-io.rules",
			`KERNEL=="nvme*", ATTR{queue/scheduler}="bfq"`), nil},
		"an earlier rule that runs a program": {
			files("etc/udev/rules.d/60-ra.rules", `KERNEL=="md*", RUN+="/sbin/blockdev --setra 8192 /dev/%k"`),
			[]string{"/etc/udev/rules.d/60-ra.rules"},
		},
		"a rule that agrees": {files("etc/udev/rules.d/zzz.rules",
			`KERNEL=="nvme*", ATTR{queue/scheduler}="none"`), nil},
		"a rule of another attribute": {files("etc/udev/rules.d/zzz.rules", `ATTR{queue/rotational}="0"`), nil},
		"cloud-init at each boot": {
			files("var/lib/cloud/scripts/per-boot/10-db.sh", "#!/bin/sh\nsysctl -w vm.swappiness=60\n"),
			[]string{"/var/lib/cloud/scripts/per-boot/10-db.sh"},
		},
		"cloud-init's configuration": {
			files("etc/cloud/cloud.cfg.d/90-db.cfg", "bootcmd:\n  - echo 4096 > /sys/block/md0/queue/read_ahead_kb\n"),
			[]string{"/etc/cloud/cloud.cfg.d/90-db.cfg"},
		},
		"cloud-init, a comment": {files("etc/cloud/cloud.cfg.d/90-db.cfg", "# vm.swappiness=60\n"), nil},
		"tmpfiles": {
			files("etc/tmpfiles.d/gov.conf", "w /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor - - - - powersave\n"),
			[]string{"/etc/tmpfiles.d/gov.conf"},
		},
	} {
		got := (&Tuner{Machine: &sys.Machine{Root: c.files}}).Rivals(changes)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		for i, w := range c.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%s: %q, want %q", name, got[i], w)
			}
		}
	}
}

// A value that somebody else has set since is put back only where that is wanted.
func TestRevertAsks(t *testing.T) {
	tuner := site(t)
	c := Change{
		Setting: finding.Setting{File: "/proc/sys/vm/swappiness", Value: "1"}, At: "/proc/sys/vm/swappiness", Old: "60", Code: "PL310",
	}
	if err := tuner.Apply([]Change{c}, false); err != nil {
		t.Fatal(err)
	}
	if err := tuner.Put(c.At, []byte("5")); err != nil {
		t.Fatal(err)
	}
	refuse := func(_ Change, now string) error { return fmt.Errorf("no, %s is mine", now) }
	if n, _, err := tuner.Revert(refuse); n != 0 || err == nil || !strings.Contains(err.Error(), "5 is mine") {
		t.Errorf("%d put back, %v", n, err)
	}
	if v, _ := tuner.value(c.At); v != "5" {
		t.Errorf("swappiness %s", v)
	}
	if n, _, err := tuner.Revert(func(Change, string) error { return nil }); n != 1 || err != nil {
		t.Errorf("%d put back, %v", n, err)
	}
	if v, _ := tuner.value(c.At); v != "60" {
		t.Errorf("swappiness %s", v)
	}
}
