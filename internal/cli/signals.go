package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/sys"
)

// lastWords is how long plimsoll may take to clean up after the second signal, before it is ended
// as any program is.
const lastWords = 5 * time.Second

// interruptible ends its context at the first signal, kills running programs at the second, and
// then gives the signals back to the kernel: the third, or lastWords after the second, ends
// plimsoll whatever it waits for, such as a FIFO or a dead NFS mount. The signals are SIGINT,
// SIGTERM, SIGQUIT, and SIGHUP (the terminal or the ssh session is gone) unless nohup set it to be
// ignored.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	kill, killNow := context.WithCancel(parent)
	ctx, cancel := context.WithCancel(sys.WithKill(parent, kill))
	catch := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		catch = append(catch, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, catch...)
	go func() {
		<-signals
		cancel()
		sig := <-signals
		killNow()
		select {
		case sig = <-signals:
		case <-time.After(lastWords):
		}
		if sig == syscall.SIGQUIT { // its default in Go is to dump all stacks
			sig = syscall.SIGTERM
		}
		signal.Reset(catch...)
		if sig, ok := sig.(syscall.Signal); ok {
			_ = syscall.Kill(os.Getpid(), sig)
		}
		_ = syscall.Kill(
			os.Getpid(),
			syscall.SIGTERM,
		) // a shell without job control has what runs in the background ignore SIGINT
	}()
	return ctx, func() { signal.Stop(signals); cancel(); killNow() }
}

// reading are the commands that change nothing, start nothing and hold nothing, however long they
// read and compute.
func reading() []string {
	return []string{
		"lint", "compare", "report", "runs", "history", "export", "convert", "show", "suites", "explain", "ceiling", "advise",
		"catalog", "workload",
	}
}

// writing are the flags by which such a command writes a file or starts a program.
func writing() []string {
	return []string{"out", "fix", "update-baseline", "installed", "series", "output"}
}

// endsAtOnce has a command that only reads given up at the first signal, wherever it is: in the middle
// of a file of gigabytes nothing looks at the context.
func endsAtOnce(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if cmd.Name() == "workload" && sub.Name() == "from" {
			giveUp(sub)
		}
	}
	if slices.Contains(reading(), cmd.Name()) {
		giveUp(cmd)
	}
}

func giveUp(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		writes := false
		cmd.Flags().Visit(func(f *pflag.Flag) { writes = writes || slices.Contains(writing(), f.Name) })
		if writes {
			return run(cmd, args)
		}
		return sys.Reading(cmd.Context(), func() error { return run(cmd, args) })
	}
}
