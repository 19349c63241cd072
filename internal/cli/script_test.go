package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/cli"
	"plimsoll/internal/postgres"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plimsoll": func() {
			limitCost()
			code := cli.Main(os.Args[1:])
			noteCost()
			os.Exit(code)
		},
		"plimsoll-drive": func() { os.Exit(onDrive(os.Args[1:])) },
		"killat":         func() { os.Exit(killAt(os.Args[1:])) },
	})
}

// TestScripts runs every testdata/script/*.txtar: plimsoll as a user types it, with the real fio.
func TestScripts(t *testing.T) {
	seeds, err := filepath.Abs("../../testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("SEEDS", seeds)             // real documents that hold fio's output
			env.Setenv("PLIMSOLL_DETAILS", "true") // what a terminal leaves out, internal/report/runs tests
			return nil
		},
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "capped":
				return canCap(), nil
			case "fuse":
				_, err := os.Stat("/dev/fuse")
				return os.Getuid() == 0 && err == nil && exec.Command("unshare", "-m", "true").Run() == nil, nil
			}
			if cond == "postgres" {
				u, err := postgres.UserFor("", "/")
				if err == nil {
					_, err = postgres.Find(t.Context(), u, "")
				}
				return err == nil, nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		UpdateScripts: os.Getenv("UPDATE") != "",
	})
}

// canCap says that a loop device can be made here and a control group can limit it.
func canCap() bool {
	if os.Getuid() != 0 || exec.Command("losetup", "-f").Run() != nil {
		return false
	}
	if _, err := os.Stat("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device"); err == nil {
		return true
	}
	controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.subtree_control")
	return err == nil && slices.Contains(strings.Fields(string(controllers)), "io")
}
