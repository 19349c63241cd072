package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

func newManCmd(env *form.Env) *cobra.Command {
	man := form.Command(env, "man", cobra.MaximumNArgs(1), nil, nil)
	man.RunE = func(cmd *cobra.Command, args []string) error {
		date := env.Now()
		if seconds, err := strconv.ParseInt(env.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
			date = time.Unix(seconds, 0)
		}
		if len(args) == 0 {
			_, page, err := manPage(cmd.Root(), date.UTC())
			if err == nil {
				_, err = env.Out.Write(page)
			}
			return err
		}
		dir, err := sys.MakePath(args[0], 0o755)
		if err != nil {
			return err
		}
		defer dir.Close() //nolint:errcheck // only a handle
		n, err := manPages(dir, cmd.Root(), date.UTC())
		if err == nil {
			env.Notef("wrote %d pages into %s", n, args[0])
		}
		return err
	}
	return man
}

// manPage is the page of a command, and the name of its file.
func manPage(cmd *cobra.Command, date time.Time) (file string, page []byte, err error) {
	cmd.DisableAutoGenTag = true
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var out bytes.Buffer
	use, long := cmd.Use, cmd.Long
	defer func() { cmd.Use, cmd.Long = use, long }()
	if list := commandList(cmd); list != "" {
		cmd.Use = cmd.Name() + " COMMAND [ARG ...] [flags]"
		cmd.Long += list
	}
	err = doc.GenMan(cmd, &doc.GenManHeader{
		Title: strings.ToUpper(name), Section: "1", Date: &date,
		Source: "plimsoll " + cmd.Root().Version, Manual: "plimsoll manual",
	}, &out)
	return name + ".1", out.Bytes(), err
}

// commandList is the section of a page on the commands below a command, "" where there are none.
func commandList(cmd *cobra.Command) string {
	var b strings.Builder
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n\n# COMMANDS\n")
		}
		fmt.Fprintf(&b, "**%s**\n\t%s\n\n", sub.Name(), sub.Short)
	}
	return strings.TrimRight(b.String(), "\n")
}

// manPages writes the page of a command and those of the commands below it, and counts them.
func manPages(dir *sys.Dir, cmd *cobra.Command, date time.Time) (n int, err error) {
	file, page, err := manPage(cmd, date)
	if err == nil {
		err = dir.WriteFile(file, page, 0o644)
	}
	n = 1
	for _, sub := range cmd.Commands() {
		if err != nil {
			return n, err
		}
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		below := 0
		below, err = manPages(dir, sub, date)
		n += below
	}
	return n, err
}
