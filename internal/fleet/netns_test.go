package fleet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
)

// network is three hosts in network namespaces of their own, each with a real sshd and a host name,
// and a coordinator in a fourth.
type network struct {
	dir, name string
	binary    string
}

const hostCount = 3

// startNetwork makes the namespaces and starts the servers; all of it ends with the test.
func startNetwork(t *testing.T) *network {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: root is needed for network namespaces")
	}
	for _, program := range []string{"ip", "ssh", "ssh-keygen", "unshare", "fio", "/usr/sbin/sshd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: %s is not installed (make need-test installs it)", program)
		}
	}
	n := &network{dir: t.TempDir(), name: fmt.Sprintf("pl%d", os.Getpid())}
	n.binary = filepath.Join(n.dir, "plimsoll")
	build(t, n.binary)
	if out, err := exec.Command("ip", "netns", "add", n.space(0)).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no network namespace can be made: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", n.space(0)).Run() })
	in := func(i int, argv ...string) { run(t, append([]string{"ip", "netns", "exec", n.space(i)}, argv...)...) }
	in(0, "ip", "link", "add", "br0", "type", "bridge")
	in(0, "ip", "addr", "add", "10.99.0.254/24", "dev", "br0")
	in(0, "ip", "link", "set", "br0", "up")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(n.dir, "id"))
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(n.dir, "host"))
	run(t, "mkdir", "-p", "/run/sshd") // where sshd wants an empty directory
	config := "Host *\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n User root\n " +
		"IdentitiesOnly yes\n IdentityFile " +
		filepath.Join(n.dir, "id") + "\n"
	for i := 1; i <= hostCount; i++ {
		run(t, "ip", "netns", "add", n.space(i))
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", n.space(i)).Run() })
		veth := fmt.Sprintf("v%d", i)
		in(0, "ip", "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", n.space(i))
		in(0, "ip", "link", "set", veth, "master", "br0", "up")
		in(i, "ip", "link", "set", "lo", "up")
		in(i, "ip", "addr", "add", fmt.Sprintf("10.99.0.%d/24", i), "dev", "eth0")
		in(i, "ip", "link", "set", "eth0", "up")
		n.serve(t, i)
		config += fmt.Sprintf("Host fh%d\n HostName 10.99.0.%d\n", i, i)
	}
	n.write(t, "ssh_config", config)
	return n
}

func (n *network) space(i int) string { return fmt.Sprintf("%sh%d", n.name, i) }

// serve starts the sshd of a host. That of the third sees a monotonic clock that is 5,000 s ahead,
// where the kernel can do that.
func (n *network) serve(t *testing.T, i int) {
	t.Helper()
	config := n.write(t, fmt.Sprintf("sshd%d", i), fmt.Sprintf(
		"ListenAddress 10.99.0.%d\nHostKey %s/host\nAuthorizedKeysFile %s/id.pub\nStrictModes no\nUsePAM no\nPidFile "+
			"none\nPermitRootLogin prohibit-password\n",
		i, n.dir, n.dir))
	argv := []string{"ip", "netns", "exec", n.space(i), "unshare", "-u"}
	if i == hostCount && exec.Command("unshare", "--time", "--monotonic", "5000", "true").Run() == nil {
		argv = append(argv, "--time", "--monotonic", "5000", "--fork", "--kill-child")
	}
	sshd := exec.Command(argv[0], append(argv[1:], "sh", "-c", fmt.Sprintf("hostname fh%d && exec /usr/sbin/sshd -D -e -f %s", i, config))...)
	sshd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var log bytes.Buffer
	sshd.Stderr = &log
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-sshd.Process.Pid, syscall.SIGKILL)
		_ = sshd.Wait()
	})
	eventually(t, 20*time.Second, "sshd of host "+strconv.Itoa(i), func() bool {
		return exec.Command("ip", "netns", "exec", n.space(0), "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/10.99.0.%d/22", i)).Run() == nil
	})
}

func (n *network) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// job reads at a rate that three hosts on one small machine can keep up.
const job = "[j]\nrw=randread\nbs=4k\nioengine=psync\ndirect=1\nsize=8m\nrate_iops=200\ntime_based\nramp_time=2\n" +
	"runtime=%d\n"

// trial is one fleet run: each host has a directory of its own in it.
type trial struct {
	*network
	at string
}

func (n *network) trial(t *testing.T, name string, seconds int) *trial {
	t.Helper()
	x := &trial{n, filepath.Join(n.dir, name)}
	for i := 1; i <= hostCount; i++ {
		n.write(t, fmt.Sprintf("%s/fh%d/read.fio", name, i), fmt.Sprintf(job, seconds))
		if err := os.MkdirAll(x.host(i, "data"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n.write(t, name+"/plimsoll", fmt.Sprintf("#!/bin/sh\ncd %s/$(hostname) || exit 1\nPATH=$PWD:$PATH exec %s \"$@\"\n", x.at, n.binary))
	return x
}

// host is a name in a host's directory.
func (x *trial) host(i int, name ...string) string {
	return filepath.Join(append([]string{x.at, fmt.Sprintf("fh%d", i)}, name...)...)
}

// start begins a fleet run of the job.
func (x *trial) start(t *testing.T, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	argv := []string{
		"ip", "netns", "exec", x.space(0), x.binary, "fleet", "run", "--out", filepath.Join(x.at, "runs"),
	}
	if !slices.Contains(flags, "--via") {
		argv = append(argv, "--via", "ssh -F "+x.dir+"/ssh_config -T {host} COMMAND")
	}
	if !slices.Contains(flags, "--remote") {
		argv = append(argv, "--remote", x.at+"/plimsoll")
	}
	cmd := exec.Command(argv[0], append(argv[1:], flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

var measure = []string{"read.fio", "--hosts", "fh[1-3]", "--data", "data"}

// finish waits for a fleet run and reads it. Its exit code must be one of a verdict: how busy the
// machine is decides which.
func (x *trial) finish(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer) *bundle.Fleet {
	t.Helper()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 && code != 4 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	t.Logf("%s", out)
	return x.read(t)
}

func (x *trial) read(t *testing.T) *bundle.Fleet {
	t.Helper()
	f, err := bundle.OpenFleet(x.fleetDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (x *trial) fleetDir(t *testing.T) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(x.at, "runs", "*-fleet"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v %v", dirs, err)
	}
	return dirs[0]
}

// measuring waits until every host has begun to measure.
func (x *trial) measuring(t *testing.T) {
	t.Helper()
	eventually(t, 60*time.Second, "all hosts measure", func() bool {
		dirs, _ := filepath.Glob(filepath.Join(x.at, "runs", "*-fleet"))
		if len(dirs) != 1 {
			return false
		}
		f, err := bundle.OpenFleet(dirs[0])
		return err == nil && len(f.Hosts) == hostCount && !slices.ContainsFunc(f.Hosts, func(h bundle.FleetHost) bool { return len(h.Starts) == 0 })
	})
}

// processes are those whose command line has all of these words.
func processes(words ...string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		data, _ := os.ReadFile(file)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// below are the processes that work in a directory: the member and what it started.
func below(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && to == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until nothing of a trial runs on a host any more and no test file is left there.
func (x *trial) gone(t *testing.T, i int, within time.Duration) {
	t.Helper()
	eventually(t, within, fmt.Sprintf("nothing runs on host %d", i), func() bool { return len(below(x.host(i))) == 0 })
	if left, _ := filepath.Glob(x.host(i, "data", ".plimsoll", "*")); len(left) > 0 {
		t.Errorf("left on host %d: %q", i, left)
	}
}

func eventually(t *testing.T, within time.Duration, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(within); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// build makes plimsoll as users have it, without cgo. The race detector needs cgo, with which half of the packages
// would be compiled once more.
func build(t *testing.T, name string) {
	t.Helper()
	run(t, "env", "CGO_ENABLED=0", "go", "build", "-ldflags=-s -w", "-o", name, "../../cmd/plimsoll")
}

func codesOf(f *bundle.Fleet) map[string][]string {
	codes := map[string][]string{}
	for _, g := range f.Findings {
		codes[string(g.Code)] = append(codes[string(g.Code)], g.Subject)
	}
	return codes
}

func TestFleetOverSSH(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	n := startNetwork(t)
	tests := map[string]func(*testing.T, *network){
		"total": totalIsTheSum, "straggler": slowHostIsNamed, "killed": killedConnection, "coordinator": killedCoordinator,
		"on": finishWithoutCoordinator, "copy": copied, "check": sideBySide, "shared": oneLock,
	}
	if os.Getenv("PLIMSOLL_FLEET") == "all" {
		tests["stopped fio"], tests["silent coordinator"], tests["slow link"], tests["each alone"] = stoppedFio, silentCoordinator, slowLink, eachAlone
		tests["killed early"], tests["ansible"] = killedEarly, jobOfAnsible
	} else {
		t.Log("make fleet-test has more: stopped fio, a silent coordinator, a slow link, each host alone, connections killed early")
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, n)
		})
	}
}

// A playbook of fleet job makes one run of hosts that nobody gave a pipe to: they begin at one instant, say what is
// known of their clocks, and their runs are sealed.
func jobOfAnsible(t *testing.T, n *network) {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("SKIPPED: ansible-playbook is not installed (make fleet-test installs ansible-core as root on Debian)")
	}
	x := n.trial(t, "ansible", 8)
	inventory := ""
	for i := 1; i <= hostCount; i++ {
		inventory += fmt.Sprintf("fh%d ansible_remote_tmp=%s\n", i, x.host(i, "tmp"))
	}
	x.write(t, "ansible/inventory", inventory)
	x.write(t, "ansible/ansible.cfg",
		"[ssh_connection]\nssh_args = -F "+n.dir+"/ssh_config\n[defaults]\nforks = 3\nlocal_tmp = "+x.at+"/tmp\n")
	play, err := exec.Command(n.binary, "fleet", "job", x.host(1, "read.fio"), "--engine", "ansible", "--data",
		x.host(1, "data"), "--start-in", "25s").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Each host has its own directory here, and plimsoll is not on the path of a login by ssh.
	text := strings.ReplaceAll(string(play), x.host(1), x.at+"/{{ inventory_hostname }}")
	x.write(t, "ansible/play.yaml", strings.Replace(text, "[plimsoll, ", "["+n.binary+", ", 1))
	begun := time.Now()
	cmd := exec.Command("ip", "netns", "exec", n.space(0), "ansible-playbook", "-i", "inventory", "play.yaml")
	cmd.Dir, cmd.Env = x.at, append(os.Environ(), "ANSIBLE_CONFIG="+x.at+"/ansible.cfg")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("sh", "-c",
		"cd "+x.at+" && "+n.binary+" fleet import collected/fh* --clock-error 1ms").CombinedOutput()
	if code := 0; err != nil && strings.Contains(err.Error(), "exit status 1") {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	dirs, _ := filepath.Glob(filepath.Join(x.at, "runs", "*-import-fleet"))
	if len(dirs) != 1 {
		t.Fatalf("%q\n%s", dirs, out)
	}
	f, err := bundle.OpenFleet(dirs[0])
	if err != nil || len(f.Hosts) != hostCount || len(f.Scenarios) != 1 {
		t.Fatalf("%v %+v", err, f)
	}
	t.Logf("%s after the play began; common window %.1f %% of what was planned; merged:\n%s", f.Scenarios[0].At.Sub(begun),
		100*f.Scenarios[0].Common.Share, out)
	if f.Scenarios[0].Common.Share < 0.8 || f.Scenarios[0].Total.IOPS < 450 {
		t.Errorf("%+v", f.Scenarios[0].Common)
	}
	if left, _ := filepath.Glob(os.TempDir() + "/plimsoll-*/runs"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// The total is what a sum by hand gives over the seconds that all hosts share, the clocks of the
// hosts being one and the same here. One of them has a monotonic clock 5,000 s ahead.
func totalIsTheSum(t *testing.T, n *network) {
	x := n.trial(t, "total", 8)
	cmd, out := x.start(t, measure...)
	f := x.finish(t, cmd, out)
	if len(f.Scenarios) != 1 || len(f.Scenarios[0].Hosts) != hostCount {
		t.Fatalf("%+v", f.Scenarios)
	}
	var all []*result.Result
	for _, h := range f.Hosts {
		if h.State != bundle.HostDone || h.Clock.Error > time.Second {
			t.Errorf("%+v", h)
		}
		files, _ := filepath.Glob(filepath.Join(x.fleetDir(t), h.Dir, "*", "result.json"))
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		r := &result.Result{}
		if err := json.Unmarshal(data, r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	var from, to time.Time // of the seconds that all measured, by the one wall clock that there is
	for _, r := range all {
		seconds := slices.DeleteFunc(slices.Clone(r.Seconds), func(s result.Second) bool { return s.Ramp })
		begin, end := r.Start.Add(seconds[0].At-seconds[0].Len), r.Start.Add(seconds[len(seconds)-1].At)
		if from.IsZero() || begin.After(from) {
			from = begin
		}
		if to.IsZero() || end.Before(to) {
			to = end
		}
	}
	sum := 0.0
	for _, r := range all {
		for _, s := range r.Seconds {
			begin, end := r.Start.Add(s.At-s.Len), r.Start.Add(s.At)
			if begin.Before(from) {
				begin = from
			}
			if end.After(to) {
				end = to
			}
			if inside := end.Sub(begin); inside > 0 && !s.Ramp {
				sum += float64(s.Read.N) * float64(inside) / float64(s.Len)
			}
		}
	}
	hand := sum / to.Sub(from).Seconds()
	if got := float64(f.Scenarios[0].Total.IOPS); math.Abs(got-hand) > 0.01*hand {
		t.Errorf("total %.2f IOPS, by hand %.2f", got, hand)
	} else {
		t.Logf("total %.2f IOPS, by hand %.2f over %s", got, hand, to.Sub(from))
	}
	first := slices.MinFunc(all, func(a, b *result.Result) int { return a.Start.Compare(b.Start) })
	last := slices.MaxFunc(all, func(a, b *result.Result) int { return a.Start.Compare(b.Start) })
	spread := last.Start.Sub(first.Start)
	t.Logf("begin spread %s, common share %.3f", spread, f.Scenarios[0].Common.Share)
	if spread > time.Second {
		t.Errorf("the hosts began %s apart", spread)
	}
	if c := codesOf(f); c["PL801"] != nil || c["PL803"] != nil {
		t.Errorf("findings %v", c)
	}
}

// A host whose fio is held to a tenth is the straggler, and no other is.
func slowHostIsNamed(t *testing.T, n *network) {
	x := n.trial(t, "straggler", 10)
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Fatal(err)
	}
	n.write(t, "straggler/fh2/fio", "#!/bin/sh\nfor a; do case $a in *run.fio) sed s/rate_iops=200/rate_iops=20/ \"$a\" >slow.fio; set -- \"$@\" slow.fio;; *) set -- \"$@\" \"$a\";; esac; shift; done\nexec "+fio+" \"$@\"\n")
	cmd, out := x.start(t, measure...)
	f := x.finish(t, cmd, out)
	if c := codesOf(f)["PL803"]; len(c) != 1 || !strings.HasPrefix(c[0], "fh2, ") {
		t.Errorf("PL803 %q\n%s", c, out)
	}
}

// A connection that is killed in mid-run costs one host: the others finish, its member stops and
// cleans up, and what it has kept is fetched.
func killedConnection(t *testing.T, n *network) {
	x := n.trial(t, "killed", 12)
	cmd, out := x.start(t, measure...)
	x.measuring(t)
	for _, pid := range processes("ssh -F", "-T fh2", x.at) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	x.gone(t, 2, 30*time.Second)
	f := x.finish(t, cmd, out)
	if c := codesOf(f)["PL801"]; len(c) != 1 || c[0] != "fh2" || string(f.Verdict) != "invalid" {
		t.Errorf("PL801 %q, %s", c, f.Verdict)
	}
	if len(f.Scenarios) != 1 || len(f.Scenarios[0].Hosts) != 2 || f.Scenarios[0].Total.IOPS <= 0 {
		t.Errorf("the others' figures: %+v", f.Scenarios)
	}
	cmd, out = x.start(t, "--resume", x.fleetDir(t))
	f = x.finish(t, cmd, out)
	i := slices.IndexFunc(f.Hosts, func(h bundle.FleetHost) bool { return h.Name == "fh2" })
	if _, err := bundle.Open(filepath.Join(x.fleetDir(t), f.Hosts[i].Dir)); err != nil {
		t.Errorf("fetched: %v\n%s", err, out)
	}
	if f.Hosts[i].Why != "its run was interrupted" {
		t.Errorf("%+v", f.Hosts[i])
	}
}

// Members of a coordinator that was killed stop by themselves.
func killedCoordinator(t *testing.T, n *network) {
	x := n.trial(t, "coordinator", 60)
	cmd, _ := x.start(t, measure...)
	x.measuring(t)
	x.killAll(t, cmd)
	for i := 1; i <= hostCount; i++ {
		x.gone(t, i, 30*time.Second)
	}
}

// killAll kills a coordinator. Its connections end as they would when its machine dies.
func (x *trial) killAll(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range processes("ssh -F", x.at) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// With --on-disconnect finish they go on to the end, and each host has its whole run, which is
// fetched afterwards.
func finishWithoutCoordinator(t *testing.T, n *network) {
	x := n.trial(t, "on", 8)
	cmd, _ := x.start(t, append([]string{"--on-disconnect", "finish"}, measure...)...)
	x.measuring(t)
	x.killAll(t, cmd)
	for i := 1; i <= hostCount; i++ {
		x.gone(t, i, 60*time.Second)
	}
	cmd, out := x.start(t, "--resume", x.fleetDir(t))
	f := x.finish(t, cmd, out)
	if len(f.Scenarios) != 1 || len(f.Scenarios[0].Hosts) != hostCount || codesOf(f)["PL801"] != nil {
		t.Errorf("%+v\n%s", f.Hosts, out)
	}
}

// A volume that hangs ends its host's run within a minute and a half, and the others' figures are
// whole.
func stoppedFio(t *testing.T, n *network) {
	x := n.trial(t, "stopped", 8)
	begun := time.Now()
	cmd, out := x.start(t, measure...)
	x.measuring(t)
	stopped := 0
	for _, pid := range below(x.host(2)) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.TrimSpace(string(name)) == "fio" {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			stopped++
		}
	}
	if stopped == 0 {
		t.Fatal("no fio was found to stop")
	}
	f := x.finish(t, cmd, out)
	if took := time.Since(begun); took > 120*time.Second {
		t.Errorf("the fleet ended after %s", took)
	} else {
		t.Logf("ended %s after its start", took)
	}
	if len(f.Scenarios) != 1 || string(f.Verdict) != "invalid" {
		t.Fatalf("%+v", f.Scenarios)
	}
	for _, h := range f.Hosts {
		if b, err := bundle.Open(filepath.Join(x.fleetDir(t), h.Dir)); err != nil || h.Name != "fh2" && b.Scenarios[0].Result.State != result.Done {
			t.Errorf("%s: %v", h.Name, err)
		}
	}
}

// A coordinator that is stopped, or its machine asleep, is gone after the lease, though its
// connections still stand.
func silentCoordinator(t *testing.T, n *network) {
	x := n.trial(t, "silent", 120)
	cmd, _ := x.start(t, measure...)
	x.measuring(t)
	for _, pid := range processes(x.binary, "fleet run", x.at) {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	for i := 1; i <= hostCount; i++ {
		x.gone(t, i, 40*time.Second)
	}
	for _, pid := range processes(x.binary, "fleet run", x.at) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	x.killAll(t, cmd)
}

// A host behind a link of 40 ms each way, and one whose clock is 5,000 s ahead, begin with the
// others.
func slowLink(t *testing.T, n *network) {
	x := n.trial(t, "slow", 4)
	self := must(os.Executable())
	config := n.write(t, "slow/ssh_config", "Host fh2\n ProxyCommand env PLIMSOLL_DELAY=40ms "+self+" 10.99.0.2:22\n"+string(must(os.ReadFile(n.dir+"/ssh_config"))))
	best := time.Hour
	for range 4 { // a busy machine may hold up any one of them
		_ = os.RemoveAll(filepath.Join(x.at, "runs"))
		cmd, out := x.start(t, append([]string{"--via", "ssh -F " + config + " -T {host} COMMAND"}, measure...)...)
		f := x.finish(t, cmd, out)
		var starts []time.Time
		for _, h := range f.Hosts {
			b, err := bundle.Open(filepath.Join(x.fleetDir(t), h.Dir))
			if err != nil {
				t.Fatal(err)
			}
			starts = append(starts, b.Scenarios[0].Result.Start)
			if h.Name == "fh2" && h.Clock.Error < 30*time.Millisecond {
				t.Errorf("the link is not slow: %+v", h.Clock)
			}
		}
		slices.SortFunc(starts, time.Time.Compare)
		spread := starts[len(starts)-1].Sub(starts[0])
		t.Logf("begin spread %s", spread)
		if best = min(best, spread); best <= 15*time.Millisecond {
			return
		}
	}
	t.Errorf("the hosts began %s apart at best", best)
}

// Each host alone and then all together: the figures of both are in the report.
func eachAlone(t *testing.T, n *network) {
	x := n.trial(t, "both", 6)
	cmd, out := x.start(t, append([]string{"--schedule", "both"}, measure...)...)
	f := x.finish(t, cmd, out)
	if len(f.Scenarios) != 1 {
		t.Fatalf("%+v", f)
	}
	for _, h := range f.Scenarios[0].Hosts {
		if h.Alone < 150 || h.Alone > 250 || h.IOPS <= 0 {
			t.Errorf("%+v", h)
		}
	}
	first, err := bundle.OpenFleet(filepath.Join(x.fleetDir(t), "alone"))
	if err != nil {
		t.Fatal(err)
	}
	windows := slices.Clone(first.Scenarios[0].Windows)
	slices.SortFunc(windows, func(a, b bundle.FleetWindow) int { return int(a.From - b.From) })
	for i := 1; i < len(windows); i++ {
		if windows[i].From < windows[i-1].To {
			t.Errorf("%s measured while %s did: %+v", windows[i].Host, windows[i-1].Host, windows)
		}
	}
}

// Connections that are killed before anything is measured cost their host, and the others go on.
func killedEarly(t *testing.T, n *network) {
	for i, when := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 900 * time.Millisecond, 1500 * time.Millisecond} {
		x := n.trial(t, fmt.Sprintf("early%d", i), 3)
		cmd, out := x.start(t, measure...)
		timer := time.NewTimer(when)
		<-timer.C
		eventually(t, 20*time.Second, "ssh to fh2", func() bool { return len(processes("ssh -F", "-T fh2", x.at)) > 0 })
		for _, pid := range processes("ssh -F", "-T fh2", x.at) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		f := x.finish(t, cmd, out)
		x.gone(t, 2, 30*time.Second)
		if c := codesOf(f)["PL801"]; len(c) != 1 || c[0] != "fh2" || len(f.Scenarios) != 1 || len(f.Scenarios[0].Hosts) != 2 {
			t.Errorf("killed after %s: %q\n%s", when, c, out)
		}
	}
}

// TestMain is the far end of a slow link where PLIMSOLL_DELAY says so: what passes takes that long
// in each direction.
func TestMain(m *testing.M) {
	delay, err := time.ParseDuration(os.Getenv("PLIMSOLL_DELAY"))
	if err != nil {
		os.Exit(m.Run())
	}
	far, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	go late(far, os.Stdin, delay)
	late(os.Stdout, far, delay)
}

// late copies, each piece delay after it came.
func late(to io.Writer, from io.Reader, delay time.Duration) {
	type piece struct {
		at   time.Time
		data []byte
	}
	pieces := make(chan piece, 4096)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				pieces <- piece{time.Now().Add(delay), buf[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}

// A host without plimsoll is given this one, checked, in a fresh directory of its user's own that
// is gone afterwards; and so is a host with another version. What was planted under the names that
// are used is neither run nor written to.
func copied(t *testing.T, n *network) {
	x := n.trial(t, "copy", 3)
	n.write(t, "copy/earlier", "#!/bin/sh\necho '{\"plimsoll\":1,\"version\":\"0.0.1\",\"fio\":\"fio-3.33\"}'\nexec cat >/dev/null\n")
	for remote, note := range map[string]string{"no-such-plimsoll": "missing", x.at + "/earlier": "old"} {
		home := filepath.Join(x.at, note) // of the user on the host
		seen := filepath.Join(x.at, note+".seen")
		n.write(t, "copy/"+note+"/.cache/plimsoll/fleet-planted/plimsoll", "#!/bin/sh\ntouch "+home+"/ran\n")
		// The far end has a home of its own, and shows how the copy looks that it is about to
		// start.
		via := "ssh -F " + x.dir + "/ssh_config -T {host} " + n.write(t, "copy/"+note+"/enter", "#!/bin/sh\nexport HOME="+home+
			"\nunset XDG_CACHE_HOME\ncd "+x.host(1)+" || exit 1\n"+
			"case $1 in */plimsoll/fleet-*) stat -c '%a %u %n' \"$1\" \"${1%/plimsoll}\" >"+seen+"; sha256sum <\"$1\" >>"+seen+";; esac\nexec \"$@\"\n") +
			" COMMAND"
		argv := []string{
			"ip", "netns", "exec", x.space(0), x.binary, "fleet", "run", "read.fio", "--hosts", "fh1", "--via", via,
			"--remote", remote, "--data", "data", "--out", filepath.Join(x.at, "runs-"+note),
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); err != nil && code != 3 && code != 4 || !strings.Contains(string(out), "fh1: plimsoll is copied there") ||
			!strings.Contains(string(out), "fh1: done") {
			t.Fatalf("%v\n%s", err, out)
		}
		sum := sha256.Sum256(must(os.ReadFile(x.binary)))
		lines := strings.Split(string(must(os.ReadFile(seen))), "\n")
		if !strings.HasPrefix(lines[0], "500 0 "+home+"/.cache/plimsoll/fleet-") || !strings.HasPrefix(lines[1], "700 0 ") ||
			!strings.HasPrefix(lines[2], hex.EncodeToString(sum[:])) || strings.Contains(lines[0], "planted") {
			t.Errorf("%s: started from %q", note, lines)
		}
		left, _ := filepath.Glob(home + "/.cache/plimsoll/*")
		if len(left) != 1 || filepath.Base(left[0]) != "fleet-planted" {
			t.Errorf("%s: left %q", note, left)
		}
		if _, err := os.Stat(home + "/ran"); err == nil {
			t.Errorf("%s: what was planted ran", note)
		}
	}
	cmd, out := x.start(t, "--copy", "never", "--remote", "no-such-plimsoll", "read.fio", "--hosts", "fh1", "--data", "data")
	if f := x.finish(t, cmd, out); f.Hosts[0].State == bundle.HostDone || !strings.Contains(f.Hosts[0].Why, "plimsoll was not found there") {
		t.Errorf("%+v\n%s", f.Hosts[0], out)
	}
}

// On storage that all hosts see each has a directory of its own and the fleet one lock: another run
// and another fleet are refused meanwhile, and nothing is left. The job is a file of the
// coordinator's, which the hosts do not have.
func oneLock(t *testing.T, n *network) {
	x := n.trial(t, "shared", 10)
	storage := filepath.Join(x.at, "storage")
	if err := os.MkdirAll(filepath.Join(storage, ".plimsoll", "fleet-fh9"), 0o700); err != nil { // of a run that was killed
		t.Fatal(err)
	}
	mine := n.write(t, "shared/mine/ours.fio", strings.Replace(fmt.Sprintf(job, 300), "[j]", "[ours]", 1))
	args := []string{mine, "--hosts", "fh[1-3]", "--data", storage, "--shared"}
	cmd, out := x.start(t, args...)
	x.measuring(t)
	for i := 1; i <= hostCount; i++ {
		eventually(t, 60*time.Second, fmt.Sprintf("a file of host %d", i), func() bool {
			files, _ := filepath.Glob(filepath.Join(storage, ".plimsoll", fmt.Sprintf("fleet-fh%d", i), ".plimsoll", "*", "ours*"))
			return len(files) == 1
		})
	}
	one, err := exec.Command(x.binary, "run", mine, "--data", storage, "--out", filepath.Join(x.at, "one")).CombinedOutput()
	if err == nil || !strings.Contains(string(one), "another plimsoll is measuring here") {
		t.Errorf("one host on its own: %v\n%s", err, one)
	}
	second := exec.Command("ip", append([]string{
		"netns", "exec", x.space(0), x.binary, "fleet", "run", "--via", "ssh -F " + x.dir + "/ssh_config -T {host} COMMAND",
		"--remote", x.at + "/plimsoll", "--out", filepath.Join(x.at, "second"),
	}, args...)...)
	if other, err := second.CombinedOutput(); err == nil || strings.Count(string(other), "refused: "+storage+": another plimsoll is measuring here") != hostCount {
		t.Errorf("another fleet: %v\n%s", err, other)
	}
	_ = cmd.Process.Signal(os.Interrupt) // all stop, and what they have is fetched
	_ = cmd.Wait()
	f := x.read(t)
	if cmd.ProcessState.ExitCode() != 130 || !f.Shared || len(f.Hosts) != hostCount || f.Hosts[0].Why != "its run was interrupted" {
		t.Errorf("%+v\n%s", f.Hosts, out)
	}
	if left, _ := filepath.Glob(filepath.Join(storage, ".*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "plimsoll-fleet-*", "*", "ours.fio")); len(left) > 0 {
		t.Errorf("the job file is left: %q", left)
	}
	b, err := bundle.Open(filepath.Join(x.fleetDir(t), f.Hosts[0].Dir))
	if err != nil || !strings.Contains(fmt.Sprint(b.Run.Suite.Scenarios[0].Job), "ours") {
		t.Errorf("another job was run: %v", err)
	}
}

// The hosts are checked side by side: the one with another fio is named, the clocks are compared,
// and a host that is not there is named too.
func sideBySide(t *testing.T, n *network) {
	x := n.trial(t, "check", 1)
	n.write(t, "check/fh2/fio", "#!/bin/sh\necho fio-3.99\n")
	argv := []string{
		"ip", "netns", "exec", x.space(0), x.binary, "fleet", "check", "data", "--json", "--hosts", "fh[1-3],fh4",
		"--via", "ssh -F " + x.dir + "/ssh_config -o ConnectTimeout=5 -T {host} COMMAND", "--remote", x.at + "/plimsoll",
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var found bundle.FleetCheck
	if code := cmd.ProcessState.ExitCode(); code != 1 && code != 3 || json.Unmarshal(out, &found) != nil {
		t.Fatalf("%v\n%s%s", err, out, &errs)
	}
	if len(found.Findings) != 1 || found.Findings[0].Code != "PL804" || found.Findings[0].Subject != "fio" ||
		found.Findings[0].Evidence[0].What != "fh2" || found.Findings[0].Evidence[0].Found != "fio-3.99" {
		t.Errorf("%+v", found.Findings)
	}
	for _, h := range found.Hosts {
		if h.Name == "fh4" {
			if h.State != bundle.HostLost || !strings.Contains(h.Why, "fh4") {
				t.Errorf("%+v", h.FleetHost)
			}
			continue
		}
		if h.State != bundle.HostDone || h.Clock.Wall.Abs() > h.Clock.Error+100*time.Millisecond || h.Facts["kernel"] == "" || h.Plimsoll == "" {
			t.Errorf("%+v", h.FleetHost)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(x.at, "*", "runs")); len(left) > 0 {
		t.Errorf("a check left %q", left)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
