package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// partly is this machine, of which other block devices are shown than it has.
type partly struct {
	fs.FS
	blocks fstest.MapFS
}

func (p partly) of(name string) fs.FS {
	if strings.HasPrefix(name, "sys/class/block") {
		return p.blocks
	}
	return p.FS
}
func (p partly) Open(name string) (fs.File, error)      { return p.of(name).Open(name) }
func (p partly) ReadLink(name string) (string, error)   { return fs.ReadLink(p.of(name), name) }
func (p partly) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(p.of(name), name) }

// deviceSite is a site whose only drive, serial S0, is a loop device; nothing in /etc names what is built on it.
func deviceSite(device, root string, size units.Bytes) *Site {
	dir := "sys/class/block/" + filepath.Base(device) + "/"
	blocks := fstest.MapFS{}
	for name, text := range map[string]string{"dev": "7:" + strings.TrimPrefix(device, "/dev/loop"), "size": fmt.Sprint(uint64(size) / 512), "device/serial": "S0"} {
		blocks[dir+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	host := *sys.Host()
	host.Root = partly{os.DirFS("/"), blocks}
	return &Site{Machine: &host, Root: "/", Journal: filepath.Join(root, "state", "journal"), UUID: newUUID, passing: true}
}

func deviceWork(t *testing.T, s *Site, what, root string) error {
	if what == "teardown" {
		return s.Teardown(t.Context(), nil, records.GiveUp{})
	}
	decl, err := topology.LoadDeclaration("plimsoll.yaml", []byte(
		"arrays:\n  - {name: k, level: single, volumes: [{serial: S0}], filesystem: {type: ext4, mount: "+root+"/m, mode: \"0700\"}}\n"))
	if err != nil {
		return err
	}
	made, _, err := s.Made()
	if err != nil {
		return err
	}
	p := &Plan{Arrays: made}
	if len(made) == 0 { // a loop device is no drive to be chosen, so the plan is made of it by hand
		want, err := records.Settle(&decl.Arrays[0])
		if err != nil {
			return err
		}
		w := &records.Work{Array: "k", Want: want, Members: []records.Member{{Serial: "S0", Size: 64 * units.MiB, Path: os.Getenv("PROVISION_DEVICE")}}}
		planning := &planner{Site: s, tree: &block.Tree{}, decl: decl, made: map[string]bool{}}
		if err := planning.steps(t.Context(), w); err != nil {
			return err
		}
		p.Arrays = []*records.Work{w}
	}
	return s.Apply(t.Context(), p)
}

// TestHelperOfDevices is no test: it is the process that is killed.
func TestHelperOfDevices(t *testing.T) {
	what, root := os.Getenv("PROVISION_DEVICE_DO"), os.Getenv("PROVISION_ROOT")
	if what == "" {
		t.Skip("SKIPPED: only a part of TestKillsAtRandomInstantsOfADevice")
	}
	if err := deviceWork(t, deviceSite(os.Getenv("PROVISION_DEVICE"), root, 64*units.MiB), what, root); err != nil {
		t.Fatal(err)
	}
}

// Kill -9 at random instants of apply and of teardown on a real device, with the real programs: the same again finishes,
// or teardown takes back an apply that was cut; the filesystem is mounted or gone, and in the end the device is blank.
// PLIMSOLL_LAB_KILLS=200 tries 200.
func TestKillsAtRandomInstantsOfADevice(t *testing.T) {
	if os.Getenv("PLIMSOLL_LAB_KILLS") == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_KILLS says how many are tried; mkfs that is cut before its superblock needs --destroy")
	}
	b := loops(t, 1, 64*units.MiB)
	device, root := b.paths[0], t.TempDir()
	s := deviceSite(device, root, 64*units.MiB)
	t.Cleanup(func() { _ = exec.Command("umount", filepath.Join(root, "m")).Run() })
	helper := func(what string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHelperOfDevices$")
		cmd.Env = append(os.Environ(), "PROVISION_ROOT="+root, "PROVISION_DEVICE="+device, "PROVISION_DEVICE_DO="+what)
		return cmd
	}
	t.Setenv("PROVISION_DEVICE", device)
	takes := map[string]time.Duration{}
	for _, what := range []string{"apply", "teardown"} {
		begun := time.Now()
		if out, err := helper(what).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
		takes[what] = time.Since(begun)
	}
	mounted := func() bool {
		tree, err := block.Read(s.Machine)
		return err == nil && len(tree.MountsOf(filepath.Base(device))) == 1
	}
	// A program of the killed one ends by a signal of its own, and one that it was just starting has its lock for a moment.
	settled := func(what string) (err error) {
		for range 100 {
			if err = deviceWork(t, s, what, root); err == nil || !strings.Contains(err.Error(), "end that first") &&
				!strings.Contains(err.Error(), "another plimsoll") {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
		return err
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	counts := map[string]int{}
	for n := range kills() {
		what := []string{"apply", "teardown"}[n%2]
		if what == "teardown" {
			if err := deviceWork(t, s, "apply", root); err != nil {
				t.Fatal(err)
			}
		}
		cmd := helper(what)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(takes[what])))) // any instant will do
		_ = cmd.Process.Signal(syscall.SIGKILL)
		if err := cmd.Wait(); err == nil {
			counts[what+", past its end"]++
		} else {
			counts[what]++
		}
		if what == "apply" && random.IntN(3) > 0 {
			err := settled("apply")
			if err != nil || !mounted() {
				t.Fatalf("seed %d, kill %d: apply, once more: %v, mounted %v", seed, n+1, err, mounted())
			}
		}
		if err := settled("teardown"); err != nil {
			t.Fatalf("seed %d, kill %d: teardown: %v", seed, n+1, err)
		}
		w := &records.Work{Array: "k", Members: []records.Member{{Serial: "S0"}}}
		now, err := s.look(t.Context(), w)
		if err = errors.Join(err, now.checkBlank(t.Context(), "@S0")); err != nil || mounted() || s.has(root+"/m") {
			t.Fatalf("seed %d, kill %d of %s: left: %v, mounted %v", seed, n+1, what, err, mounted())
		}
	}
	t.Logf("seed %d: %v", seed, counts)
}
