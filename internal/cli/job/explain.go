package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/text"
)

// RulePage explains a rule, as --json prints it.
type RulePage struct {
	Code     finding.Code     `json:"code"`
	Severity finding.Severity `json:"severity"`
	Title    string           `json:"title"`
	Text     string           `json:"text"`
}

type explainOptions struct {
	Format string `formats:"plain"`
}

// NewExplain is the command plimsoll explain.
func NewExplain(env *form.Env) *cobra.Command {
	var o explainOptions
	var codes []string
	for _, r := range finding.Pages() {
		codes = append(codes, string(r.Code)+"\t"+r.Title)
	}
	cmd := form.Command(env, "explain", nil, &o, o.run)
	cmd.ValidArgs = codes
	return cmd
}

func (o *explainOptions) run(_ context.Context, env *form.Env, args []string) error {
	pages := finding.Pages()
	if len(args) > 0 {
		pages = nil
	}
	for _, arg := range args {
		p, ok := finding.PageOf(ruleCode(arg))
		if !ok {
			return unknownCode(arg)
		}
		pages = append(pages, p)
	}
	if len(args) == 0 || o.Format != form.TextFormat {
		data := make([]RulePage, len(pages))
		for i, p := range pages {
			data[i] = RulePage{p.Code, p.Severity, p.Title, p.Text()}
		}
		return form.Render(env, o.Format, plans.Rules(pages, len(args) > 0, data))
	}
	for i, p := range pages {
		if i > 0 {
			fmt.Fprintln(env.Out)
		}
		fmt.Fprint(env.Out, p.Text())
	}
	return nil
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
	for _, r := range finding.Pages() {
		codes = append(codes, string(r.Code))
	}
	msg := "no rule has the code " + text.Quote(name)
	if like := text.Nearest(string(ruleCode(name)), codes); like != "" {
		msg += "; did you mean " + like + "?"
	}
	return form.Hint(form.Usage(errors.New(msg)), "plimsoll explain")
}
