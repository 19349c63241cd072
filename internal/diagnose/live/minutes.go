package live

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/units"
)

// Whose says on whose side the cause of a slow time lies.
type Whose string

// The sides. Theirs is the provider's or the drive's: it did not answer, or gave less than is stated
// of it although enough waited. Without a stated rate nobody is accused.
const (
	Fine    Whose = "fine"
	Theirs  Whose = "theirs"
	Yours   Whose = "yours"        // more is asked than was bought
	Here    Whose = "this machine" // a setting or another program of this machine
	Unknown Whose = "unknown"
)

// What a volume must be asked to do before it can be said to give too little.
const (
	enoughWait   = 4.0 // I/Os in it, on average
	promisedPart = 0.9 // of the stated rate
)

// MomentSpan is the length of one look of many: a volume that gives too little does so for this long
// before it is accused.
const MomentSpan = 6 * time.Second

// LimitUse is the share that is used of a limit that is known: of a volume, the instance or a control group.
type LimitUse struct {
	Of    string  `json:"of"`
	Limit string  `json:"limit"`
	Share float64 `json:"share"`
}

// limitsUsed are the shares of all limits that are known.
func (v *view) limitsUsed() (all []LimitUse) {
	for _, l := range v.leaves {
		if share, what, _ := v.volumeShare(l); what != "" {
			all = append(all, LimitUse{l.Name, what, share})
		}
	}
	if i := v.instanceShare(); i.limit != "" {
		all = append(all, LimitUse{"instance", i.limit, i.of})
	}
	for _, l := range v.Groups {
		all = append(all, LimitUse{l.Group, amount(l.What, l.Limit), l.Used / max(l.Effective(), 1)})
	}
	return all
}

// Look judges facts as one moment of many. whole says that they include processes; at is the start.
func Look(f *Facts, at time.Time, whole bool) Moment {
	a, v := Judge(f), newView(f)
	m := Moment{Minute: Minute{Start: at, Span: a.Span, Whose: Fine}, Whole: whole}
	if v.top != nil {
		if used := v.limitsUsed(); len(used) > 0 {
			m.Used = &used
		}
		m.Wait, m.Waiting, m.IOPS = v.top.wait(), v.top.waiting(), units.IOPS(v.top.iops())
	}
	if a.Answer == Found {
		c := a.Causes[0]
		m.Slow, m.First, m.Subject, m.Silent = m.Span, c.Code, c.Subject, c.Code == "PL902"
		m.Whose = v.side(a.Causes)
	}
	return m
}

// side says whose a slow moment is. A volume is accused of too low a rate only where nothing on this
// machine and no limit explains it.
func (v *view) side(causes []Cause) Whose {
	for _, c := range causes {
		if w := c.row.whose; w == Theirs || w == Yours || w == Here {
			return w
		}
	}
	if v.belowStated() {
		return Theirs
	}
	return Unknown
}

// belowStated is whether a volume of a stated rate gives less although enough I/Os wait in it.
func (v *view) belowStated() bool {
	return slices.ContainsFunc(v.leaves, func(l *device) bool {
		if l.Volume == nil || l.waiting() < enoughWait {
			return false
		}
		share, of := l.use(l.Volume.Sustained)
		return of != "" && share < promisedPart
	})
}

// Minute is what plimsoll why --watch says of a minute, and its line of JSON.
type Minute struct {
	Start   time.Time     `json:"start"`
	Span    time.Duration `json:"span_ns"`
	Slow    time.Duration `json:"slow_ns"`
	Whose   Whose         `json:"whose"`
	First   finding.Code  `json:"first,omitempty"`
	Subject string        `json:"subject,omitempty"`
	Silent  bool          `json:"no_answer,omitempty"`
	// Wait is the mean time of an I/O, weighted by their number, of the slow moments where there are
	// any; Waiting and IOPS are means over the same moments.
	Wait    units.Latency `json:"wait_ns"`
	Waiting float64       `json:"waiting"`
	IOPS    units.IOPS    `json:"iops"`
	// Used are the limits of the last moment; nil where none is known.
	Used *[]LimitUse `json:"limits_used,omitempty"`
}

// Moment is one look of many at the same path: a short minute, all of it slow or nothing.
type Moment struct {
	Minute
	Whole bool // processes were looked at, too
}

// MinuteOf joins moments. Its cause is the one that held longest among those in which processes were
// looked at, or among all where none of those was slow.
func MinuteOf(moments []Moment) Minute {
	out := Minute{Whose: Fine}
	if len(moments) == 0 {
		return out
	}
	out.Start, out.Used = moments[0].Start, moments[len(moments)-1].Used
	for _, m := range moments {
		out.Span, out.Slow = out.Span+m.Span, out.Slow+m.Slow
	}
	shown := moments
	if out.Slow > 0 {
		shown = where(moments, func(m Moment) bool { return m.Slow > 0 })
		if whole := where(shown, func(m Moment) bool { return m.Whole }); len(whole) > 0 {
			shown = whole
		}
		lead := longest(shown)
		out.Whose, out.First, out.Subject, out.Silent = lead.Whose, lead.First, lead.Subject, lead.Silent
	}
	var seconds, ios float64
	for _, m := range shown {
		s := m.Span.Seconds()
		seconds += s
		ios += float64(m.IOPS) * s
		out.Waiting += m.Waiting * s
		out.Wait += units.Latency(float64(m.Wait) * float64(m.IOPS) * s)
	}
	if ios > 0 {
		out.Wait = units.Latency(float64(out.Wait) / ios)
	}
	if seconds > 0 {
		out.Waiting /= seconds
		out.IOPS = units.IOPS(ios / seconds)
	}
	return out
}

func where(all []Moment, want func(Moment) bool) (some []Moment) {
	for _, m := range all {
		if want(m) {
			some = append(some, m)
		}
	}
	return some
}

// longest is the first moment of the cause that held longest, the earlier of two that held equally.
func longest(slow []Moment) Moment {
	held := map[finding.Code]time.Duration{}
	for _, m := range slow {
		held[m.First] += m.Span
	}
	return slices.MaxFunc(slow, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(held[a.First], held[b.First]), b.Start.Compare(a.Start))
	})
}

// Sum is what plimsoll why --watch says at its end, and its last line of JSON.
type Sum struct {
	Minutes int `json:"minutes"`
	Fine    int `json:"fine"`
	Theirs  int `json:"theirs"`
	Silent  int `json:"theirs_no_answer"` // of Theirs
	Yours   int `json:"yours"`
	Here    int `json:"this_machine"`
	Unknown int `json:"unknown"`
	// Codes are the minutes of each first cause.
	Codes map[finding.Code]int `json:"codes"`
	by    map[Whose]map[finding.Code]int
}

// Add counts a minute.
func (s *Sum) Add(m Minute) {
	if s.Codes == nil {
		s.Codes, s.by = map[finding.Code]int{}, map[Whose]map[finding.Code]int{}
	}
	s.Minutes++
	side := map[Whose]*int{Fine: &s.Fine, Theirs: &s.Theirs, Yours: &s.Yours, Here: &s.Here, Unknown: &s.Unknown}[m.Whose]
	if side != nil {
		*side++
	}
	if m.Silent && m.Whose == Theirs {
		s.Silent++
	}
	if m.First == "" {
		return
	}
	s.Codes[m.First]++
	if s.by[m.Whose] == nil {
		s.by[m.Whose] = map[finding.Code]int{}
	}
	s.by[m.Whose][m.First]++
}

// CodeMinutes is how many minutes had a first cause.
type CodeMinutes struct {
	Code    finding.Code
	Minutes int
}

// Of lists the first causes of a side, the most frequent first.
func (s *Sum) Of(w Whose) []CodeMinutes {
	var all []CodeMinutes
	for _, c := range slices.Sorted(maps.Keys(s.by[w])) {
		all = append(all, CodeMinutes{c, s.by[w][c]})
	}
	slices.SortStableFunc(all, func(a, b CodeMinutes) int { return cmp.Compare(b.Minutes, a.Minutes) })
	return all
}
