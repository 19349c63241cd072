package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// What an engine is given is well formed, and hands each word of plimsoll run on as it was meant: with blanks, quotes
// and dollars. What would end a line, or what Ansible evaluates, is refused.
func TestJobsOfEngines(t *testing.T) {
	words := []string{
		"--data=/data/it's $HOME $$(x)", "--wal=~/\u00a0'$(id)", "--label=a=\"b\" $(id) `id` #x: y", "--",
		"read.fio", "-3", "--label=x=a$$b",
	}
	start := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	for _, engine := range JobEngines() {
		words := words
		if engine == "ansible" { // which puts in variables and homes of the member
			for _, w := range []string{"--data=/$HOME", "--data=${X}", "~", "~root"} {
				if _, err := (Job{Engine: engine, Args: []string{w}, Members: 7, Start: start}).File(); err == nil {
					t.Errorf("%s is handed to Ansible", w)
				}
			}
			words = []string{
				"--data=/data/it's", "--wal=~/\u00a0'(id)", "--label=a=\"b\" (id) `id` #x: y", "--", "read.fio", "-3",
			}
		}
		file, err := Job{Engine: engine, Args: words, Members: 7, Image: "registry/plimsoll:1", Start: start}.File()
		if err != nil {
			t.Fatal(err)
		}
		want := append([]string{"--start-at=2026-11-27T03:00:00Z"}, words...)
		var got []string
		switch engine {
		case "ansible":
			var plays []struct {
				Tasks []struct {
					Command struct{ Argv []string } `yaml:"ansible.builtin.command"`
					Async   int
				}
			}
			if err := yaml.Unmarshal([]byte(file), &plays); err != nil {
				t.Fatalf("%v\n%s", err, file)
			}
			for _, task := range plays[0].Tasks {
				if task.Async > 0 {
					got = task.Command.Argv
				}
			}
			want = append([]string{"plimsoll", "run", "--out=runs"}, want...)
		case "kubernetes":
			var job struct {
				Spec struct {
					Completions, Parallelism int
					Template                 struct {
						Spec struct {
							Containers []struct {
								Image        string
								WorkingDir   string `yaml:"workingDir"`
								Args         []string
								VolumeMounts []struct {
									Name      string
									MountPath string `yaml:"mountPath"`
								} `yaml:"volumeMounts"`
							}
						}
					}
				}
			}
			if err := yaml.Unmarshal([]byte(file), &job); err != nil {
				t.Fatalf("%v\n%s", err, file)
			}
			one := job.Spec.Template.Spec.Containers[0]
			if got = one.Args; job.Spec.Completions != 7 || job.Spec.Parallelism != 7 || one.Image != "registry/plimsoll:1" {
				t.Errorf("%+v", job)
			}
			if m := one.VolumeMounts[0]; m.Name != "data" || one.WorkingDir != m.MountPath { // else the image's root is measured
				t.Errorf("it works in %q and mounts %+v", one.WorkingDir, m)
			}
			for i := range got { // as Kubernetes expands it
				got[i] = strings.ReplaceAll(got[i], "$$", "$")
			}
			want = append([]string{"run", "--out=/runs/$(POD_NAME)"}, want...)
		case "slurm":
			dir := t.TempDir()
			put := func(name, content string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
				return path
			}
			put("plimsoll", "#!/bin/sh\nprintf '%s\\n' \"$@\" >"+filepath.Join(dir, "said"))
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Setenv("SLURM_ARRAY_JOB_ID", "11")
			t.Setenv("SLURM_ARRAY_TASK_ID", "3")
			if !strings.Contains(file, "#SBATCH --array=1-7\n") {
				t.Error(file)
			}
			if out, err := exec.Command("sh", put("job", file)).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			said, err := os.ReadFile(filepath.Join(dir, "said"))
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Split(strings.TrimSuffix(string(said), "\n"), "\n")
			want = append([]string{"run", "--out=plimsoll-11/3"}, want...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q, want\n%q", engine, got, want)
		}
		for _, bad := range []string{"a\nb", "{{ lookup('pipe', 'id') }}", "{% x %}", "a{# x #}b", "\xff", "\x1b[2J"} {
			if _, err := (Job{Engine: engine, Args: []string{bad}, Members: 1, Start: start}).File(); err == nil {
				t.Errorf("%s: %q passed", engine, bad)
			}
		}
	}
}

// Runs of many hosts are merged in memory and time that grow with their number: PLIMSOLL_MEMBERS is how many.
func TestImportOfManyHosts(t *testing.T) {
	n := 12
	if _, err := fmt.Sscan(os.Getenv("PLIMSOLL_MEMBERS"), &n); err != nil {
		n = 12
	}
	dir := t.TempDir()
	latencies := map[time.Duration]uint64{}
	for i := range 120 { // as many bins as a real device fills in a second
		latencies[time.Duration(80+i*i)*time.Microsecond] = uint64(1 + 400/(i+1))
	}
	var one uint64
	for _, count := range latencies {
		one += count
	}
	for i := range n {
		hostRun{name: fmt.Sprintf("h%d", i), seconds: 60, each: latencies}.build(t, filepath.Join(dir, "collected"))
	}
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak so far is that of making them
	begun := time.Now()
	held, f, err := Import{
		Dirs: []string{filepath.Join(dir, "collected")}, Out: filepath.Join(dir, "runs"),
		Now: epoch,
	}.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // only a handle
	if got, want := float64(f.Scenarios[0].Total.IOPS), float64(n)*float64(one); got != want || len(f.Hosts) != n {
		t.Errorf("%d hosts did %v IOPS, want %v", len(f.Hosts), got, want)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(strings.TrimSpace(peak), "\n")
	t.Logf("%d hosts: merged in %s, peak memory %s", n, time.Since(begun).Round(time.Millisecond), peak)
}
