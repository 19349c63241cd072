package form

import (
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// PolicyOptions are the flags that say which findings count, and which of them fail.
type PolicyOptions struct {
	Disable []string `flag:"disable"`
	FailOn  []string `flag:"fail-on"`
	// Shown says that without --fail-on the command only shows what it measured, INVALID or not.
	Shown bool
}

// AddFlags adds them to a command.
func (o *PolicyOptions) AddFlags(f *pflag.FlagSet) {
	BindAll(f, "policy", o)
}

// Policy is that of plimsoll.yaml, if there is one, and of the flags.
func (o PolicyOptions) Policy(decl *topology.Declaration) (verdict.Policy, error) {
	var file verdict.Policy
	if decl != nil {
		var disable []string
		for _, code := range slices.Sorted(maps.Keys(decl.Policy.Disable)) {
			disable = append(disable, code+"="+decl.Policy.Disable[code])
		}
		var err error
		if file, err = verdict.ParsePolicy(disable, decl.Policy.FailOn); err != nil {
			return file, Usagef("%s: policy: %w", decl.Name, err)
		}
	}
	if !o.Shown && slices.Contains(o.FailOn, string(verdict.Invalid)) {
		return file, Usagef("--fail-on invalid is not needed: the exit code is 4 for INVALID results anyway")
	}
	flags, err := verdict.ParsePolicy(o.Disable, o.FailOn)
	if err != nil {
		return flags, Usagef("--%w", err)
	}
	return file.With(flags), nil
}

// RunError is the error of a run's verdict.
func RunError(b *bundle.Bundle) error { return VerdictError(b.Run.Verdict, b.Run.Policy, b.Findings) }

// VerdictError turns a verdict and a policy into the exit code's error.
func VerdictError(v verdict.Verdict, policy verdict.Policy, found []finding.Finding) error {
	switch {
	case v == verdict.Invalid:
		return ErrInvalid
	case v == verdict.Fail, policy.Fails(v, found):
		return ErrVerdict
	}
	return nil
}
