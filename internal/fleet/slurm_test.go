package fleet_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
)

// A fleet run through srun on one node of a real Slurm, which the test starts for itself.
func TestFleetOverSlurm(t *testing.T) {
	if os.Getenv("PLIMSOLL_FLEET") != "all" {
		t.Skip("SKIPPED: make fleet-test runs this with Slurm")
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: root is needed to start Slurm")
	}
	for _, program := range []string{"srun", "salloc", "sinfo", "fio", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: %s is not installed (make fleet-test installs slurm-wlm as root on Debian)", program)
		}
	}
	dir, err := os.MkdirTemp("", "plimsoll-slurm-") //nolint:usetesting // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"state", "spool", "data"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := put("munge.key", bytes.Repeat([]byte("plimsoll"), 16))
	config := put("slurm.conf", fmt.Appendf(nil, `ClusterName=plimsoll
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SrunPortRange=26900-26999
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.sock
CredType=cred/munge
SlurmUser=root
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PlugStackConfig=/dev/null
ReturnToService=2
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:2
`, host, dir))
	t.Setenv("SLURM_CONF", config)
	var logs bytes.Buffer
	for _, argv := range [][]string{
		{
			"/usr/sbin/munged", "-F", "--force", "--key-file=" + key, "--socket=" + dir + "/munge.sock", "--pid-file=" + dir + "/munge.pid",
			"--log-file=" + dir + "/munge.log", "--seed-file=" + dir + "/munge.seed",
		},
		{"/usr/sbin/slurmctld", "-D", "-f", config},
		{"/usr/sbin/slurmd", "-D", "-f", config},
	} {
		daemon := exec.Command(argv[0], argv[1:]...)
		daemon.Stderr = &logs
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = daemon.Process.Kill()
			_ = daemon.Wait()
		})
	}
	eventually(t, 60*time.Second, "the node is idle", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-o", "%T").Output()
		return string(bytes.TrimSpace(out)) == "idle"
	})
	binary := filepath.Join(dir, "plimsoll")
	build(t, binary)
	job := put("read.fio", fmt.Appendf(nil, job, 6))
	cmd := exec.Command("salloc", "-N1", "--quiet", binary, "fleet", "run", job, "--via", "srun", "--hosts", host,
		"--remote", binary, "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "runs"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 3 && code != 4 {
		t.Fatal(err)
	}
	dirs, _ := filepath.Glob(filepath.Join(dir, "runs", "*-fleet"))
	if len(dirs) != 1 {
		t.Fatalf("%q", dirs)
	}
	f, err := bundle.OpenFleet(dirs[0])
	if err != nil || f.Hosts[0].State != bundle.HostDone || f.Via != "srun" || len(f.Scenarios) != 1 || f.Scenarios[0].Total.IOPS < 150 {
		t.Errorf("%v %+v", err, f)
	}

	// Nobody gives a pipe to the members of an array: they begin together, and their runs are merged.
	script, err := exec.Command(binary, "fleet", "job", job, "--engine", "slurm", "--members", "2", "--start-in", "15s",
		"--data", filepath.Join(dir, "data$SLURM_ARRAY_TASK_ID")).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(script), "exec plimsoll", "exec "+binary, 1)
	text = strings.Replace(text, "'--data="+dir+"/data$SLURM_ARRAY_TASK_ID'", "--data="+dir+"/data$SLURM_ARRAY_TASK_ID", 1)
	for _, sub := range []string{"data1", "data2"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	batch := exec.Command("sbatch", "--wait", "--parsable", put("job.sh", []byte(text)))
	batch.Dir = dir
	id, err := batch.CombinedOutput()
	if code := batch.ProcessState.ExitCode(); err != nil && code != 3 && code != 4 {
		t.Fatalf("%v\n%s", err, id)
	}
	number, _, _ := strings.Cut(strings.TrimSpace(string(id)), "\n")
	merge := exec.Command("sh", "-c", binary+" fleet import plimsoll-"+number+"/* --clock-error 1ms --out merged")
	merge.Dir = dir
	if out, err := merge.CombinedOutput(); err != nil {
		t.Logf("%v\n%s", err, out)
	}
	dirs, _ = filepath.Glob(filepath.Join(dir, "merged", "*-import-fleet"))
	if len(dirs) != 1 {
		t.Fatalf("%q", dirs)
	}
	f, err = bundle.OpenFleet(dirs[0])
	if err != nil || len(f.Hosts) != 2 || len(f.Scenarios) != 1 || f.Scenarios[0].Common.Share < 0.8 ||
		f.Scenarios[0].Total.IOPS < 300 {
		t.Errorf("%v %+v", err, f)
	}
}
