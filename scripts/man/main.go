// Command man writes a manual page for each command of plimsoll into a directory: man DIR. The
// pages carry the date of SOURCE_DATE_EPOCH, so that a release is reproducible.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"plimsoll/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err == nil {
		err = write(os.Args[1], cli.Commands(), time.Unix(seconds, 0).UTC())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write makes the page of a command and those of the commands below it.
func write(dir string, cmd *cobra.Command, date time.Time) error {
	cmd.DisableAutoGenTag = true
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	page, err := os.Create(filepath.Join(dir, name+".1"))
	if err != nil {
		return err
	}
	header := &doc.GenManHeader{
		Title: strings.ToUpper(name), Section: "1", Date: &date,
		Source: "plimsoll " + cmd.Root().Version, Manual: "plimsoll manual",
	}
	if err := doc.GenMan(cmd, header, page); err != nil {
		return err
	}
	if err := page.Close(); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := write(dir, sub, date); err != nil {
			return err
		}
	}
	return nil
}
