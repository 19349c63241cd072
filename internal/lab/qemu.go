package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
)

const (
	qemuProgram = "qemu-system-x86_64"
	// guestMemory is enough for 24 volumes, fio's buffers and results; a restored guest touches 100
	// MiB of it.
	guestMemory = "1536M"
	// rootPorts is how many volumes a guest can have: one NVMe controller behind each.
	rootPorts = 24
	// Of these, cryptomgr.notests saves a second of boot; the guest's clock source must be the TSC
	// to survive a restore.
	kernelArgs = "console=ttyS0 panic=-1 quiet mitigations=off tsc=reliable cryptomgr.notests=1 audit=0"
)

// boot is what a boot loader hands over.
type boot struct {
	kernel string
	initrd string
	append string // to kernelArgs
}

// qemuArgs are the machine's. A template fits only a machine of the same arguments. Two CPUs are a
// must: with one, QEMU 7.2 leaves out memory barriers and loses NVMe doorbells (fixed in 8.1,
// "tcg: Do not elide memory barriers"). Without erms and fsrm the kernel and C libraries copy and
// clear memory by words: an emulated "rep movsb" goes byte by byte, and programs then take half as
// long again.
func qemuArgs(b boot) []string {
	args := append(strings.Fields(`-machine q35,memory-backend=ram0 -accel tcg,thread=multi -cpu max,erms=off,fsrm=off
		-smp 2 -display none -nodefaults -no-user-config -no-reboot
		-device virtio-serial-pci,id=vs0,max_ports=4
		-device virtserialport,bus=vs0.0,nr=1,chardev=agent,name=plimsoll.agent`),
		"-m", guestMemory, "-kernel", b.kernel, "-initrd", b.initrd, "-append", kernelArgs+b.append)
	for i := range rootPorts { // eight functions a slot
		args = append(args, "-device", fmt.Sprintf(
			"pcie-root-port,id=rp%d,chassis=%d,slot=%d,bus=pcie.0,addr=%#x.%d,multifunction=on", i, i+1, i+1, 8+i/8, i%8,
		))
	}
	return args
}

// memoryArgs put the guest's RAM into a file: shared to make a template, private to use one.
func memoryArgs(file, share string) []string {
	return []string{
		"-object",
		"memory-backend-file,id=ram0,size=" + guestMemory + ",mem-path=" + file + ",share=" + share,
	}
}

// machine is a running QEMU.
type machine struct {
	qmp   *monitor
	agent *agent.Client
	cut   context.CancelFunc // SIGKILL: the power cut
	ended chan struct{}
	err   error // of the process, once ended is closed
}

// launch starts QEMU, whose sockets are put into dir, and connects to its monitor and its agent
// port. QEMU lives until it is cut or quits, or this process ends; not until ctx ends, which only
// bounds the start.
func launch(ctx context.Context, m *sys.Machine, dir, console string, args ...string) (*machine, error) {
	qmp, err := listenOn(ctx, filepath.Join(dir, "qmp"))
	if err != nil {
		return nil, err
	}
	port, err := listenOn(ctx, filepath.Join(dir, "agent"))
	if err != nil {
		return nil, errors.Join(err, qmp.Close())
	}
	argv := append([]string{
		qemuProgram,
		"-chardev", "socket,id=qmp,path=" + comma(qmp.Addr().String()), "-mon", "chardev=qmp,mode=control",
		"-chardev", "socket,id=agent,path=" + comma(port.Addr().String()),
		"-serial", "file:" + console, // the rest of it as it is, commas too
	}, args...)

	kill, cut := context.WithCancel(context.Background())
	q := &machine{cut: cut, ended: make(chan struct{})}
	go func() {
		q.err = m.Run(sys.WithLimit(sys.WithKill(context.Background(), kill), sys.NoLimit), io.Discard, argv...)
		_ = qmp.Close() // and so whoever still waits for a connection
		_ = port.Close()
		close(q.ended) // last: who waits for it starts the next guest on the same sockets
	}()
	monitorConn, err := qmp.Accept()
	var agentConn net.Conn
	if err == nil {
		agentConn, err = port.Accept()
	}
	if err == nil {
		q.agent = agent.NewClient(agentConn)
		q.qmp, err = newMonitor(ctx, monitorConn)
	}
	if err != nil {
		cut()
		<-q.ended
		if q.err != nil && ctx.Err() == nil {
			err = q.err // what QEMU said about its arguments
		}
		return nil, fmt.Errorf("start the lab guest: %w", err)
	}
	return q, nil
}

// listenOn waits on a unix socket for one connection, as long as ctx lasts.
func listenOn(ctx context.Context, name string) (*net.UnixListener, error) {
	if len(name) > 107 {
		return nil, fmt.Errorf("lab: %s: a socket's name has at most 107 bytes; set TMPDIR to a shorter directory", name)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Minute)
	}
	return l, l.SetDeadline(deadline)
}

// comma escapes a name for QEMU's option syntax.
func comma(name string) string { return strings.ReplaceAll(name, ",", ",,") }

// kill ends QEMU at once, as a power cut would end the instance: what the drives have acknowledged
// stays.
func (q *machine) kill() {
	q.cut()
	<-q.ended
	_ = q.agent.Close() // the stream is dead already
	_ = q.qmp.conn.Close()
}

// shareCapability keeps the RAM, which is in a file, out of the migration.
var shareCapability = object{"capabilities": []object{{"capability": "x-ignore-shared", "state": true}}}

// waitStatus polls a QMP query until its status is not one of those given.
func (q *machine) waitStatus(ctx context.Context, query string, not ...string) (string, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var r struct {
			Status string `json:"status"`
			Desc   string `json:"error-desc"`
		}
		if err := q.qmp.do(ctx, query, nil, &r); err != nil {
			return "", err
		}
		if r.Status != "" && !slices.Contains(not, r.Status) {
			if r.Desc != "" {
				return r.Status, fmt.Errorf("qmp %s: %s", query, r.Desc)
			}
			return r.Status, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("qmp %s: %s: %w", query, r.Status, ctx.Err())
		}
	}
}
