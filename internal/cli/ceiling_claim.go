package cli

import (
	"errors"

	"plimsoll/internal/advise"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/topology"
)

// runClaim holds a stated figure against the declared layout. A claim that does not hold at all is
// a failed verdict.
func runClaim(env *Env, o ceilingOptions) error {
	claim, err := advise.ParseClaim(o.claim)
	if err != nil {
		return usage(err)
	}
	decl, err := o.declaration(env)
	if err != nil {
		return err
	}
	if decl == nil {
		return usage(errors.New("--claim needs what it is claimed of: --instance, --volumes or --topology"))
	}
	t, err := topology.FromDeclaration(decl)
	if err != nil {
		return usage(err)
	}
	v := claim.Check(t)
	err = render(env, o.format, plans.Claim(v))
	if err == nil && !v.Holds {
		err = errVerdict
	}
	return err
}
