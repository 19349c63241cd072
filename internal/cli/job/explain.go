package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// RulePage explains a rule, as --json prints it.
type RulePage struct {
	Code     finding.Code     `json:"code"`
	Severity finding.Severity `json:"severity"`
	Title    string           `json:"title"`
	Text     string           `json:"text"`
}

// NewExplain is the command plimsoll explain.
func NewExplain(env *form.Env) *cobra.Command {
	var format string
	var codes []string
	for _, r := range verdict.Pages() {
		codes = append(codes, string(r.Code)+"\t"+r.Title)
	}
	cmd := &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Explain a finding and what to do about it; without a code, list all",
		Example: `  plimsoll explain
  plimsoll explain PL204`,
		ValidArgs: codes,
		RunE:      func(_ *cobra.Command, args []string) error { return runExplain(env, args, format) },
	}
	form.AddFormat(cmd, &format, page.Formats())
	return cmd
}

func runExplain(env *form.Env, args []string, format string) error {
	pages, err := explained(args)
	if err != nil {
		return err
	}
	if len(args) == 0 || format != form.TextFormat {
		return form.Render(env, format, plans.Rules(listed(pages), bodies(args, pages), pages))
	}
	for i, p := range pages {
		if i > 0 {
			fmt.Fprintln(env.Out)
		}
		fmt.Fprint(env.Out, p.Text)
	}
	return nil
}

// listed are the rules of pages.
func listed(pages []RulePage) []finding.Page {
	var all []finding.Page
	for _, p := range verdict.Pages() {
		if slices.ContainsFunc(pages, func(o RulePage) bool { return o.Code == p.Code }) {
			all = append(all, p)
		}
	}
	return all
}

// bodies are the texts of pages that were named; a list of all rules goes without.
func bodies(args []string, pages []RulePage) []string {
	if len(args) == 0 {
		return nil
	}
	var all []string
	for _, p := range pages {
		all = append(all, p.Text)
	}
	return all
}

// explained are the pages of rules by their codes, of all without any.
func explained(args []string) ([]RulePage, error) {
	var pages []RulePage
	if len(args) == 0 {
		for _, r := range verdict.Pages() {
			args = append(args, string(r.Code))
		}
	}
	for _, arg := range args {
		i := slices.IndexFunc(verdict.Pages(), func(r finding.Page) bool { return r.Code == ruleCode(arg) })
		if i < 0 {
			return nil, unknownCode(arg)
		}
		r := verdict.Pages()[i]
		body, _ := verdict.Explain(r.Code)
		pages = append(pages, RulePage{r.Code, r.Severity, r.Title, body})
	}
	return pages, nil
}

// ruleCode reads a code as people type it: PL204, pl204 or 204.
func ruleCode(s string) finding.Code {
	s = strings.ToUpper(s)
	if s != "" && strings.Trim(s, "0123456789") == "" {
		s = "PL" + s
	}
	return finding.Code(s)
}

// unknownCode refuses what is no rule's code.
func unknownCode(name string) error {
	var codes []string
	for _, r := range verdict.Pages() {
		codes = append(codes, string(r.Code))
	}
	msg := "no rule has the code " + text.Quote(name)
	if like := text.Nearest(string(ruleCode(name)), codes); like != "" {
		msg += "; did you mean " + like + "?"
	}
	return form.Hint(form.Usage(errors.New(msg)), "plimsoll explain")
}
