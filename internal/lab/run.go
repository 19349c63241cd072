package lab

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
)

// Result is what a program in the guest did.
type Result struct {
	Stdout, Stderr string
	Code           int // exit status; 128 + n for signal n
}

// Exec runs a program in the guest, in /root. An exit status other than 0 is no error; to print more than
// sys.OutputLimit is one.
func (g *Guest) Exec(ctx context.Context, argv ...string) (Result, error) {
	return g.exec(ctx, nil, argv...)
}

func (g *Guest) exec(ctx context.Context, in io.Reader, argv ...string) (Result, error) {
	out, errs := &sys.Capped{Limit: sys.OutputLimit}, &sys.Capped{Limit: sys.OutputLimit}
	r, err := g.Run(ctx, agent.Request{Argv: argv}, agent.Streams{In: in, Out: out, Err: errs})
	if flood := cmp.Or(out.Err(), errs.Err()); err == nil && flood != nil {
		err = fmt.Errorf("lab guest: %s: %w", argv[0], flood)
	}
	return Result{out.String(), errs.String(), r.Code}, err
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
	return g.put(ctx, name, mode, bytes.NewReader(data))
}

// PutFile copies a file of the host into the guest.
func (g *Guest) PutFile(ctx context.Context, name string, mode uint32, from string) error {
	f, err := sys.OpenRegular(from)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	return g.put(ctx, name, mode, f)
}

func (g *Guest) put(ctx context.Context, name string, mode uint32, in io.Reader) error {
	_, err := g.must(ctx, in, putting(name, mode)...)
	return err
}

// must runs a program in the guest that has to succeed, and returns what it prints.
func (g *Guest) must(ctx context.Context, in io.Reader, argv ...string) (string, error) {
	r, err := g.exec(ctx, in, argv...)
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("lab guest: %s", strings.TrimSpace(r.Stderr))
	}
	return r.Stdout, err
}

// putting is the command that writes its input into a file: under another name first, since it may replace the
// program that the agent runs from.
func putting(name string, mode uint32) []string {
	const script = `t=$1.lab-new; cat >"$t" && chmod "$2" "$t" && mv "$t" "$1" || { rm -f "$t"; exit 1; }`
	return []string{"sh", "-c", script, "put", name, fmt.Sprintf("%o", mode)}
}

// Console returns what came on the guest's console since its last start: warnings and panics.
func (g *Guest) Console() (string, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, "console.log"))
	return string(text), err
}

// Dir is where the volumes' files and console.log are.
func (g *Guest) Dir() string { return g.dir }
