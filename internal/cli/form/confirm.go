package form

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"plimsoll/internal/sys"
)

// Confirm asks on the terminal; elsewhere there is no answer.
func Confirm(ctx context.Context, env *Env, question string) error {
	f, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Usagef("there is no terminal to ask on: say --yes")
	}
	fmt.Fprintf(env.Err, "%s [yes/no] ", question)
	answer, _ := bufio.NewReader(sys.Interruptible(ctx, f)).ReadString('\n') // the end of input is no
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}
