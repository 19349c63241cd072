package machine

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/agent"
)

// attach runs a command in the guest with this program's streams; on a terminal of its own when
// they are one.
func attach(ctx context.Context, env *form.Env, g *lab.Guest, shell bool, argv ...string) (int, error) {
	in, inFile := env.In.(*os.File)
	out, outFile := form.FileOf(env.Out)
	if !inFile || !outFile || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		s := agent.Streams{Out: env.Out, Err: env.Err}
		if shell {
			s.In = env.In // lab shell < script
		}
		r, err := g.Run(ctx, agent.Request{Argv: argv}, s)
		return r.Code, err
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return -1, err
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }() // nothing else can be done about it

	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	sizes := make(chan [2]uint16, 1)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			if w, h, err := term.GetSize(int(out.Fd())); err == nil {
				select {
				case sizes <- [2]uint16{uint16(w), uint16(h)}:
				case <-ended:
					return
				}
			}
			select {
			case <-resized:
			case <-ended:
				return
			}
		}
	}()
	req := agent.Request{Argv: argv, TTY: true, Env: []string{"TERM=" + env.Getenv("TERM")}}
	r, err := g.Run(ctx, req, agent.Streams{In: in, Out: out, Sizes: sizes})
	return r.Code, err
}
