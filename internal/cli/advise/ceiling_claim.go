package advise

import (
	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/topology"
)

// runClaim holds a stated figure against the declared layout. A claim that does not hold at all is
// a failed verdict.
func runClaim(env *form.Env, o ceilingOptions) error {
	claim, err := advise.ParseClaim(o.Claim)
	if err != nil {
		return form.Usage(err)
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	if decl == nil {
		return form.Usagef("--claim needs what it is claimed of: --instance, --volumes or --topology")
	}
	t, err := topology.FromDeclaration(decl)
	if err != nil {
		return form.Usage(err)
	}
	v := claim.Check(t)
	err = form.Render(env, o.format, plans.Claim(v))
	if err == nil && !v.Holds {
		err = form.ErrVerdict
	}
	return err
}
