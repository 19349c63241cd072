package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// duration is a flag's value: a number of seconds, as fio's users type it, or with units.
type duration time.Duration

func (d *duration) Set(s string) error {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil && seconds > -1e9 && seconds < 1e9 {
		*d = duration(seconds * float64(time.Second))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("use seconds, or a time with units such as 90s, 5m or 1h30m")
	}
	*d = duration(v)
	return nil
}

// String is what Set reads back, which fleet run passes on to the hosts.
func (d *duration) String() string { return time.Duration(*d).String() }

func (*duration) Type() string { return "DURATION" }

// addDuration adds a flag that takes seconds or a time with units.
func addDuration(f *pflag.FlagSet, to *time.Duration, name, help string) {
	f.Var((*duration)(to), name, help)
	if *to == 0 {
		f.Lookup(name).DefValue = "" // which keeps "(default 0s)" out of the help
	}
}

// addLatency adds a flag that takes a latency such as 0.6ms.
func addLatency(f *pflag.FlagSet, to *units.Latency, name, help string) {
	f.TextVar(to, name, *to, help)
	f.Lookup(name).DefValue = "" // which keeps "(default 0 ns)" out of the help
}

// addSize adds a flag that takes a size such as 64KiB.
func addSize(f *pflag.FlagSet, to *units.Bytes, name, help string) {
	f.TextVar(to, name, *to, help)
	f.Lookup(name).DefValue = ""
}

// choice is a flag's value that is one of several words.
type choice struct {
	value *string
	words []string
}

func (c choice) Set(s string) error {
	if slices.Contains(c.words, s) {
		*c.value = s
		return nil
	}
	err := fmt.Errorf("use one of %s", strings.Join(c.words, ", "))
	if like := text.Nearest(s, c.words); like != "" {
		err = fmt.Errorf("did you mean %s? %w", like, err)
	}
	return err
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (choice) Type() string { return "string" }

// addChoice adds a flag that takes one of words; help has the metavariable in backquotes and ends
// before the list.
func addChoice[T ~string](cmd *cobra.Command, to *string, name, help string, words []T) {
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	cmd.Flags().Var(choice{to, plain}, name, help+": "+strings.Join(plain, ", "))
	completeValues(cmd, name, words)
}

// addFormat adds --format, whose first word is the default, and --json for --format json.
func addFormat[T ~string](cmd *cobra.Command, format *string, words []T) {
	*format = string(words[0])
	addChoice(cmd, format, "format", "output `FORMAT`", words)
	cmd.Flags().BoolFunc("json", "same as --format json", func(s string) error {
		on, err := strconv.ParseBool(s)
		if on {
			*format = formatJSON
		}
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("format", "json")
}

// formatJSON is among the formats of every command that prints data.
const formatJSON = "json"

// textFormat is what a command prints unless another format is asked for.
const textFormat = string(page.Text)

// formatShell is a plan as a script.
const formatShell = "sh"
