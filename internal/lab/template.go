package lab

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// template is a guest that has booted and waits, without volumes (QEMU cannot migrate its nvme
// device): its RAM in a file that each guest maps privately, and the state of its devices.
type template struct {
	ram, state string
	args       []string // the machine's
	plimsoll   string   // hash of the plimsoll in it
}

// warmUp fills the template's page cache with what every test runs.
const warmUp = `fio --version; mdadm --version; mkfs.xfs -V; lvm version; nvme version; lsblk; udevadm --version; plimsoll version`

func makeTemplate(ctx context.Context, m *sys.Machine, cache string, img *image, cfg Config) (*template, error) {
	args := qemuArgs(img.boot)
	program := m.Program(qemuProgram)
	info, err := fs.Stat(m.Root, program)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, img.id, program, info.Size(), info.ModTime().UnixNano(), args)
	dir := filepath.Join(cache, "template-"+hex.EncodeToString(h.Sum(nil)[:8]))
	t := &template{ram: filepath.Join(dir, "ram"), state: filepath.Join(dir, "state"), args: args}
	err = fill(dir, func(tmp string) error {
		fmt.Fprintln(cfg.Log, "lab: booting a guest to start others from, once for each kernel, QEMU and set of programs")
		sum, err := hashFile(cfg.Binary)
		if err != nil {
			return err
		}
		sockets, err := sys.TempDir(tempUse)
		if err != nil {
			return err
		}
		err = bootTemplate(ctx, m, sockets, tmp, args)
		if err == nil {
			err = os.WriteFile(filepath.Join(tmp, "plimsoll"), []byte(sum), 0o600)
		}
		return cmp.Or(err, os.RemoveAll(sockets))
	})
	if err != nil {
		return nil, fmt.Errorf("lab template: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, "plimsoll"))
	t.plimsoll = string(sum)
	return t, err
}

// bootTimeout is many times what a boot takes on a busy host.
const bootTimeout = 3 * time.Minute

func bootTemplate(ctx context.Context, m *sys.Machine, sockets, dir string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	console := filepath.Join(sockets, "console.log")
	q, err := launch(ctx, m, sockets, console, append(memoryArgs(filepath.Join(dir, "ram"), "on"), args...)...)
	if err != nil {
		return err
	}
	defer q.kill()
	warm := agent.Request{Op: agent.OpExec, Argv: []string{"bash", "-c", warmUp}}
	if _, err := q.agent.Call(ctx, warm, agent.Streams{}); err != nil {
		return fmt.Errorf("boot: %w%s", err, consoleTail(console))
	}
	if err := q.qmp.do(ctx, "stop", nil, nil); err != nil {
		return err
	}
	if err := q.qmp.do(ctx, "migrate-set-capabilities", shareCapability, nil); err != nil {
		return err
	}
	// QEMU hands the name to a shell; both parts of it are ours.
	if err := q.qmp.do(
		ctx,
		"migrate",
		object{"uri": "exec:cat > " + text.ShellQuote(filepath.Join(dir, "state"))},
		nil,
	); err != nil {
		return err
	}
	status, err := q.waitStatus(ctx, "query-migrate", "setup", "active", "device", "wait-unplug", "pre-switchover")
	if err == nil && status != "completed" {
		err = fmt.Errorf("saving the guest's state ended as %q", status)
	}
	return err
}

// start restores the guest, plugs the drives in and gives it this plimsoll.
func (t *template) start(ctx context.Context, g *Guest) error {
	begin := time.Now()
	var err error
	if g.machine, err = t.restore(ctx, g.m, g.sockets, filepath.Join(g.dir, "console.log")); err != nil {
		return err
	}
	g.Started.Restore = time.Since(begin)
	if _, err := g.must(ctx, nil, "bash", "-c", oneCPU); err != nil { // until awaitDrives
		return err
	}
	if g.cfg.Persist {
		if err := g.plugSystem(ctx); err != nil {
			return err
		}
	}
	if err := g.plugAll(ctx); err != nil {
		return err
	}
	sum, err := hashFile(g.cfg.Binary)
	if err == nil && sum != t.plimsoll {
		err = g.PutFile(ctx, "/usr/bin/plimsoll", 0o755, g.cfg.Binary)
	}
	return err
}

// restore starts a guest from the template.
func (t *template) restore(ctx context.Context, m *sys.Machine, dir, console string) (*machine, error) {
	args := append(memoryArgs(t.ram, "off"), "-incoming", "defer")
	q, err := launch(ctx, m, dir, console, append(args, t.args...)...)
	if err != nil {
		return nil, err
	}
	err = q.qmp.do(ctx, "migrate-set-capabilities", shareCapability, nil)
	if err == nil {
		err = q.qmp.do(ctx, "migrate-incoming", object{"uri": "exec:cat " + text.ShellQuote(t.state)}, nil)
	}
	var status string
	if err == nil {
		status, err = q.waitStatus(ctx, "query-status", "inmigrate")
	}
	if err == nil && status != "running" {
		err = q.qmp.do(ctx, "cont", nil, nil)
	}
	if err == nil { // its clock stands at the time of the template
		_, err = q.agent.Call(ctx, agent.Request{Op: agent.OpSetTime, Time: m.Now()}, agent.Streams{})
	}
	if err != nil {
		q.kill()
		return nil, fmt.Errorf("restore the lab guest: %w", err)
	}
	return q, nil
}
