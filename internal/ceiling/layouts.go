package ceiling

// Alike is the share by which two layouts may differ in the model and still be the same: less than a
// comparison of some rounds can tell.
const Alike = 0.01

// Against is what the model says of a ceiling beside that of the same work on another layout: the ratio of
// the limits that a test of some minutes meets. known is false where either has no limit, or the time of one I/O,
// which is not known, sets both.
func (c Ceiling) Against(base Ceiling) (ratio float64, known bool) {
	a, b := base.Binding(), c.Binding()
	if a == nil || b == nil || a.IOPS <= 0 || !c.Known() || !base.Known() || c.Unpaced() {
		return 1, false
	}
	return float64(b.IOPS / a.IOPS), true
}
