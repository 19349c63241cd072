package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/cli"
	"plimsoll/internal/sys"
)

// oneDrive is this machine, of whose block devices one drive is shown.
type oneDrive struct {
	fs.FS
	blocks fstest.MapFS
	loop   string // what the kernel calls it
}

func (d oneDrive) of(name string) fs.FS {
	if strings.HasPrefix(name, "sys/class/block") {
		return d.blocks
	}
	return d.FS
}

func (d oneDrive) Open(name string) (fs.File, error) {
	if name != "proc/diskstats" {
		return d.of(name).Open(name)
	}
	text, err := fs.ReadFile(d.FS, name)
	if err != nil {
		return nil, err
	}
	f, err := fstest.MapFS{"stats": {Data: bytes.ReplaceAll(text, []byte(" "+d.loop+" "), []byte(" sdx "))}}.Open("stats")
	return struct{ fs.File }{f}, err // which is opened again for each reading
}
func (d oneDrive) ReadLink(name string) (string, error)   { return fs.ReadLink(d.of(name), name) }
func (d oneDrive) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(d.of(name), name) }

// onDrive is plimsoll on the drive sdx, serial S0, whose number and size DRIVE has; a loop device is no drive to build
// on.
func onDrive(args []string) int {
	number, size, _ := strings.Cut(os.Getenv("DRIVE"), " ")
	m := sys.Host()
	m.Root = oneDrive{os.DirFS("/"), fstest.MapFS{
		"sys/class/block/sdx/dev":           {Data: []byte(number + "\n")},
		"sys/class/block/sdx/size":          {Data: []byte(size + "\n")},
		"sys/class/block/sdx/device/serial": {Data: []byte("S0\n")},
	}, "loop" + strings.TrimPrefix(number, "7:")}
	return cli.MainOn(m, args)
}

// TestKillsOfLayouts kills plimsoll ab over two layouts of a drive, before a random step of its own, on the kernel of
// this machine: plimsoll array teardown, or the same command with --resume, ends it, and nothing is left.
// PLIMSOLL_LAYOUT_KILLS=100 tries 100 from PLIMSOLL_SEED on.
func TestKillsOfLayouts(t *testing.T) {
	n, seed := number(t, "PLIMSOLL_LAYOUT_KILLS", 2), number(t, "PLIMSOLL_SEED", 1)
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes namespaces and loop devices")
	}
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	const size = 512 << 20
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		t.Skipf("NO LOOP DEVICE: %v %s", err, out)
	}
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", loop).Run() })
	minor := strings.TrimPrefix(loop, "/dev/loop")
	sh, err := filepath.Abs("testdata/kills-layouts.sh")
	if err != nil {
		t.Fatal(err)
	}
	kill := func(how string, step int, end string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", sh,
			how, strconv.Itoa(step), end)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "DRIVE=7:"+minor+" "+strconv.Itoa(size/512))
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		err := cmd.Run()
		return strings.TrimSpace(said.String()), err
	}
	whole, err := kill("KILL", 0, "none")
	steps := 0
	if _, scan := fmt.Sscanf(whole, "%d steps", &steps); scan != nil || err != nil {
		t.Fatalf("one that nobody kills: %v\n%s", err, whole)
	}
	counts := map[string]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(seed+i), 52))
		how, step, end := []string{"KILL", "KILL", "KILL", "TERM"}[r.IntN(4)], 1+r.IntN(steps),
			[]string{"teardown", "resume"}[r.IntN(2)]
		said, err := kill(how, step, end)
		if err != nil {
			t.Errorf("seed %d, %s at %d of %d, %s: %v\n%s", seed+i, how, step, steps, end, err, said)
		}
		counts[how+", "+said[strings.LastIndexByte(said, '\n')+1:]]++
	}
	t.Logf("%d kills before one of %d steps: %v", n, steps, counts)
}
