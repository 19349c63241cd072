package ceiling

import "math"

// Bucket is an allowance that bursts, of a volume or of an instance: what is used above Base is
// taken from what is saved up, and what is unused below it fills that again, up to Size. Ceilings
// and the replays of advice spend bursts with it and with nothing else.
type Bucket struct {
	Base, Top  float64 // a second: sustained, and while something is saved up
	Size, Left float64 // saved up at most and now, in units of the allowance
	// Timed says that the burst lasts for so many seconds however much of it is used: Size and Left
	// are seconds, and what is unused gives none back.
	Timed bool
}

// noise is what floating point may lose of a figure: no more than that is forgiven anywhere.
const noise = 1e-9

// Allows is the most that may be used a second now.
func (b *Bucket) Allows() float64 {
	if b.Top > b.Base && !b.Empty() {
		return b.Top
	}
	return b.Base
}

// Empty says that nothing is saved up.
func (b *Bucket) Empty() bool { return b.Left <= b.Size*noise }

// Lasts is for how many seconds the burst lasts when so much is used per second: without end where that
// spends nothing, or nothing is left to spend.
func (b *Bucket) Lasts(use float64) float64 {
	over := use - b.Base
	switch {
	case over <= 2*noise*b.Base || b.Empty():
		return math.Inf(1)
	case b.Timed:
		return b.Left
	}
	return b.Left / over
}

// Pass lets so much be used a second for so many seconds.
func (b *Bucket) Pass(use, seconds float64) {
	switch over := use - b.Base; {
	case !b.Timed:
		b.Left = min(b.Left-over*seconds, b.Size)
	case over > 2*noise*b.Base:
		b.Left -= seconds
	}
}
