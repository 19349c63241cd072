package finding

import "slices"

// Rules is the table of all rules, in the order of their codes.
func Rules() []*Rule {
	return slices.Concat(jobRules(), layoutRules(), hostRules(), measurementRules(), ceilingRules(), cloudRules())
}
