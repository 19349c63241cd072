package form

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// What the shell offers at Tab. Nothing here may fail or be slow: what cannot be read is not
// offered.

// Levels are those that --level takes.
var Levels = []topology.Level{
	topology.Single,
	topology.RAID0,
	topology.RAID1,
	topology.RAID10,
	topology.RAID5,
	topology.RAID6,
	topology.Linear,
}

// CompleteFlags gives the flags that several commands share their words, and relates the flags to each other, in a
// command and those below it.
func CompleteFlags(cmd *cobra.Command) {
	shared := map[string]cobra.CompletionFunc{
		"instance": offer(func(_ []string, begun string) []string { return cloud.InstanceTypes(begun) }),
		"volumes":  offer(volumesFrom),
		"only":     completeOnly,
		"phase":    offer(phasesOf),
		"resume":   CompleteRuns,
	}
	for name, complete := range shared {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails only for a flag that is not there
		}
	}
	if cmd.Flags().Lookup("level") != nil {
		completeValues(cmd, "level", Levels)
	}
	relate(cmd)
	for _, sub := range cmd.Commands() {
		CompleteFlags(sub)
	}
}

// completeValues offers a flag's values to the shell.
func completeValues[T ~string](cmd *cobra.Command, flag string, values []T) {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	// It fails only for a flag that does not exist, which the first run of any test would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// offer offers words, and no files.
func offer(words func(args []string, begun string) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return words(args, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// volumesFrom are volume types behind the number of volumes: 8x -> 8xgp3.
func volumesFrom(_ []string, begun string) []string {
	count, _, ok := strings.Cut(begun, "x")
	if !ok || strings.Trim(count, "0123456789") != "" {
		return nil
	}
	return volumeTypes(count + "x")
}

func volumeTypes(before string) (words []string) {
	for _, v := range cloud.VolumeTypes() {
		words = append(words, before+v.Type+"\t"+v.Provider+" "+v.Name)
	}
	return words
}

// completeOnly offers the scenarios of the suite that is named, behind the last comma.
func completeOnly(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	s, err := suite.Select(args, suite.Selection{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	var words []string
	for _, c := range s.Scenarios {
		words = append(words, before+c.Name+"\t"+c.Title)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more may follow behind a comma
}

func phasesOf(args []string, _ string) (words []string) {
	if s, err := suite.Select(args, suite.Selection{}); err == nil {
		for _, c := range s.Scenarios {
			words = text.Once(words, c.Phase)
		}
	}
	return words
}

// CompleteRuns offers the runs below ./runs, newest first, and directories for those that lie
// elsewhere.
func CompleteRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	found, err := bundle.List("runs")
	var words []string
	for _, r := range found {
		if name := filepath.Join("runs", r.ID); !slices.Contains(args, name) {
			words = append(words, name+"\t"+strings.TrimSuffix(strings.Join(runs.RunSummary(r), ", "), ", "))
		}
	}
	if err != nil || len(words) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return words, cobra.ShellCompDirectiveKeepOrder
}

// CompleteUpTo stops offering when all arguments are there.
func CompleteUpTo(most int, complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, begun)
	}
}

// CompleteScenarios offers suites, and the scenarios of the default one, to the shell.
func CompleteScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, name := range suite.Names() {
		if s, err := suite.Builtin(name); err == nil {
			words = append(words, name+"\t"+s.Description)
		}
	}
	if s, err := suite.Builtin(suite.Default); err == nil {
		for _, c := range s.Scenarios {
			words = append(words, c.Name+"\t"+strings.TrimSuffix(c.Title, "."))
		}
	}
	return words, cobra.ShellCompDirectiveDefault // files too: suites and job files
}

// CompleteCatalog offers volume types, and instance types once a family is begun.
func CompleteCatalog() cobra.CompletionFunc {
	return CompleteUpTo(1, offer(func(_ []string, begun string) []string {
		if begun == "" {
			return volumeTypes("")
		}
		return append(volumeTypes(""), cloud.InstanceTypes(begun)...)
	}))
}
