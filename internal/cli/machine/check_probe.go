package machine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/text"
)

// ProbeResult is what check --probe prints as JSON, for each array.
type ProbeResult struct {
	Array   string            `json:"array"`
	Members []diagnose.Probed `json:"members"`
	// Touches say of each volume whether it is loaded from its snapshot, Findings what is wrong there.
	Touches  []diagnose.Touch  `json:"first_touch"`
	Findings []finding.Finding `json:"findings"`
	Answer   string            `json:"answer"`
}

// runProbe reads each member of the arrays alone, then all together.
func (o *CheckOptions) runProbe(ctx context.Context, env *form.Env) error {
	t, err := o.detect(ctx, env)
	if err != nil {
		return err
	}
	results := []ProbeResult{}
	for _, a := range t.Arrays {
		r := ProbeResult{
			Array: a.Name, Members: diagnose.ProbeOf(&a).Members, Touches: []diagnose.Touch{}, Findings: []finding.Finding{},
		}
		if len(r.Members) > 0 {
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return bench.ErrNoMembers
	}
	for i := range results {
		if err := o.probeArray(ctx, env, &results[i]); err != nil {
			return err
		}
	}
	var all []machine.Probed
	for _, r := range results {
		all = append(all, machine.Probed{Name: r.Array, Members: r.Members, Answer: r.says()})
	}
	return form.Render(env, o.Format, machine.Probe(all, results))
}

// says is what the members gave, then which of them are not loaded: eight that are would fill a headline.
func (r *ProbeResult) says() string {
	said := []string{r.Answer}
	for _, t := range r.Touches {
		if t.Claimed || !t.Tells() || len(r.Touches) == 1 {
			said = append(said, TouchLine(t))
		}
	}
	return strings.Join(said, " ")
}

func (o CheckOptions) probeArray(ctx context.Context, env *form.Env, r *ProbeResult) error {
	// Before the probe, whose own reads load blocks.
	for _, m := range r.Members {
		env.Notef("%s: testing whether the volume is loaded, with pairs of reads, for at most 12 s", m.Device)
		t, err := bench.Touch(ctx, m.Device, nil)
		if err != nil {
			return NeedsRoot(ctx, err)
		}
		r.Touches = append(r.Touches, t)
	}
	r.Findings = append(r.Findings, rules.Judge(&diagnose.Case{Touches: r.Touches}, nil)...)
	steps := len(r.Members)
	if steps > 1 {
		steps++
	}
	env.Notef("%s: reading from %s, %v",
		r.Array, text.Plural(len(r.Members), "volume"), text.Duration(time.Duration(steps)*o.ProbeFor))
	err := bench.Probe(ctx, env.Machine, r.Members, o.ProbeFor, func(i int) {
		what := "all together"
		if i < len(r.Members) {
			what = r.Members[i].Device
		}
		fmt.Fprintf(env.Notes(), "%d/%d  %s\n", i+1, steps, what)
	})
	if err != nil {
		return NeedsRoot(ctx, err)
	}
	r.Answer = diagnose.ProbeAnswer(r.Members)
	return nil
}

// NeedsRoot says of an error of reading volumes, unless it is of an interruption, who may read them.
func NeedsRoot(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return form.Hint(err, "run the probe as root: it reads from the volumes themselves")
}

// TouchLine is what a test of a first touch says, with its code where something is wrong.
func TouchLine(t diagnose.Touch) string {
	if t.Claimed {
		return text.Clean(t.Sentence(), 0) + " (PL320)"
	}
	return text.Clean(t.Sentence(), 0)
}
