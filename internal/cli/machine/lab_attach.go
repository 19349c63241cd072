package machine

import (
	"context"
	"fmt"
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
	size := func() string {
		w, h, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return "true"
		}
		return fmt.Sprintf("stty cols %d rows %d", w, h)
	}
	ended, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for {
			select {
			case <-resized: // the guest has no terminals but those of lab shell
				_, _ = g.Exec(ended, "sh", "-c", "for t in /dev/pts/[0-9]*; do "+size()+" <$t; done")
			case <-ended.Done():
				return
			}
		}
	}()
	sized := append([]string{"sh", "-c", size() + `; exec "$@"`, "sh"}, argv...)
	req := agent.Request{Argv: sized, TTY: true, Env: []string{"TERM=" + env.Getenv("TERM")}}
	r, err := g.Run(ctx, req, agent.Streams{In: in, Out: out})
	return r.Code, err
}
