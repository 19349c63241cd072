package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
)

// Result is what a program in the guest did.
type Result struct {
	Stdout, Stderr string
	Code           int           // exit status; 128 + n for signal n
	Wall           time.Duration // in the guest
}

// Exec runs a program in the guest, in /root. An exit status other than 0 is no error.
func (g *Guest) Exec(ctx context.Context, argv ...string) (Result, error) {
	var out, errs bytes.Buffer
	r, err := g.Run(ctx, agent.Request{Argv: argv}, agent.Streams{Out: &out, Err: &errs})
	return Result{out.String(), errs.String(), r.Code, r.Wall}, err
}

// Bash runs a script in which the devices of volumes named data are "${data[@]}".
func (g *Guest) Bash(ctx context.Context, script string) (Result, error) {
	groups := map[string][]string{}
	for _, v := range g.Volumes {
		groups[v.Group] = append(groups[v.Group], v.Device)
	}
	var head strings.Builder
	for name, devices := range groups {
		fmt.Fprintf(&head, "%s=(%s); ", name, strings.Join(devices, " "))
	}
	return g.Exec(ctx, "bash", "-c", head.String()+"\n"+script)
}

// Run runs a program with its streams connected; req.Argv, Dir, Env and TTY count.
func (g *Guest) Run(ctx context.Context, req agent.Request, s agent.Streams) (agent.Reply, error) {
	req.Op = agent.OpExec
	if req.Dir == "" {
		req.Dir = "/root"
	}
	return g.machine.agent.Call(ctx, req, s)
}

// Put writes a file in the guest; its directory must be there.
func (g *Guest) Put(ctx context.Context, name string, mode uint32, data []byte) error {
	_, err := g.machine.agent.Call(ctx, agent.Request{Op: agent.OpPut, Path: name, Mode: mode},
		agent.Streams{In: bytes.NewReader(data)})
	return err
}

// PutFile copies a file of the host into the guest.
func (g *Guest) PutFile(ctx context.Context, name string, mode uint32, from string) error {
	f, err := sys.OpenRegular(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	_, err = g.machine.agent.Call(ctx, agent.Request{Op: agent.OpPut, Path: name, Mode: mode}, agent.Streams{In: f})
	return err
}

// Get reads a file of the guest.
func (g *Guest) Get(ctx context.Context, name string) ([]byte, error) {
	var out bytes.Buffer
	_, err := g.machine.agent.Call(ctx, agent.Request{Op: agent.OpGet, Path: name}, agent.Streams{Out: &out})
	return out.Bytes(), err
}

// Console returns what came on the guest's console since its last start: warnings and panics.
func (g *Guest) Console() (string, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, "console.log"))
	return string(text), err
}

// Dir is where the volumes' files and console.log are.
func (g *Guest) Dir() string { return g.dir }
