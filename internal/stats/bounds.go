package stats

// Bounds is a figure that may be known in part: it is at least Least and at most Most, in the unit of
// whoever made it. How says what that follows from.
type Bounds struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	How   string  `json:"how,omitempty"`
}

// Judgement is what bounds say of a demand.
type Judgement int

// The judgements. What is known in part may decide nothing.
const (
	CannotTell Judgement = iota
	Met
	Missed
)

// Exact says that the figure is known.
func (b Bounds) Exact() bool { return b.Least == b.Most }

// Judge asks whether the figure fulfils a demand that is monotone, such as "below 1 %": it is met or
// missed where both ends say so.
func (b Bounds) Judge(holds func(float64) bool) Judgement {
	switch least, most := holds(b.Least), holds(b.Most); {
	case least && most:
		return Met
	case !least && !most:
		return Missed
	}
	return CannotTell
}

// Decisive is the end that is nearest to failing or to passing: of a demand that is met the worse one.
// Of a figure that is known both are it.
func (b Bounds) Decisive(holds func(float64) bool) float64 {
	if holds(b.Least) {
		return b.Most
	}
	return b.Least
}

// Print writes the figure by what prints one of its ends; end is the largest it can be at all, so that
// "0.6 to 1" of a share is "at least 0.6".
func (b Bounds) Print(one func(float64) string, end float64) string {
	switch least, most := one(b.Least), one(b.Most); {
	case least == most:
		return least
	case b.Most >= end:
		return "at least " + least
	case b.Least <= 0:
		return "at most " + most
	default:
		return least + " to " + most
	}
}
