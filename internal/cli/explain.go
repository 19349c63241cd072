package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/finding"
	"plimsoll/internal/report"
	"plimsoll/internal/verdict"
)

func newExplainCmd(env *Env) *cobra.Command {
	var codes []string
	for _, r := range verdict.Pages() {
		codes = append(codes, string(r.Code)+"\t"+r.Title)
	}
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Say what a finding means and what to do; without a code, list them all",
		Example: `  plimsoll explain
  plimsoll explain PL204`,
		ValidArgs: codes,
		RunE:      func(_ *cobra.Command, args []string) error { return runExplain(env, args) },
	}
}

func runExplain(env *Env, args []string) error {
	if len(args) == 0 {
		return report.Rules(env.Out, verdict.Pages())
	}
	for i, arg := range args {
		text, ok := verdict.Explain(finding.Code(arg))
		if !ok {
			return hint(usage(fmt.Errorf("no finding has the code %q", arg)), "plimsoll explain")
		}
		if i > 0 {
			fmt.Fprintln(env.Out)
		}
		fmt.Fprint(env.Out, text)
	}
	return nil
}
