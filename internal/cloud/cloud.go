// Package cloud knows the limits of storage that others rent out or sell, and asks the cloud which
// of it this machine has. The catalogue (catalogue/, embedded) holds volume types, the machine types
// of EC2, Azure and Google Cloud and NVMe data sheets, each figure with its source, date and trust;
// it is read when it is first asked. A Provider is a cloud: its data, all of which one reader takes from a
// directory, and what it does its own way: its metadata service and its API. On EC2 the NVMe log page
// 0xD0 of an EBS volume tells how long it was held back by which limit.
package cloud

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"plimsoll/internal/units"
)

//go:embed catalogue
var catalogue embed.FS

// Provenance says where facts come from.
type Provenance struct {
	Source string `json:"source"`
	AsOf   string `json:"as_of"` // date of the source, such as 2025-11
	Trust  Trust  `json:"trust"`
}

// String prints source and date, as reports cite them.
func (p Provenance) String() string { return p.Source + " (" + p.AsOf + ")" }

// Trust is how far a figure was checked.
type Trust string

// The levels of trust.
const (
	Inferred Trust = "inferred"          // from what the source says of something alike
	Verified Trust = "verified"          // read on the vendor's page or in its API's answers
	Partial  Trust = "partial"           // some figures read so, others recalled or measured by third parties
	Recalled Trust = "unverified-recall" // from memory of a data sheet: check before relying on it
)

// String is the level as reports print it.
func (t Trust) String() string {
	if t == Recalled {
		return "not verified"
	}
	return string(t)
}

// Limits are capacities; a zero field is unknown or absent, never "none allowed". IOPS and Rate apply
// to reads and writes together; those of one direction are as drive data sheets state them.
type Limits struct {
	IOPS      units.IOPS `json:"iops,omitempty"`
	Rate      units.Rate `json:"rate,omitempty"`
	ReadIOPS  units.IOPS `json:"read_iops,omitempty"`
	WriteIOPS units.IOPS `json:"write_iops,omitempty"`
	ReadRate  units.Rate `json:"read_rate,omitempty"`
	WriteRate units.Rate `json:"write_rate,omitempty"`
	// SharedIOPS and SharedRate say that the figures of the two directions are of one budget, of which
	// r reads and w writes take r/read + w/write; empty: each direction has its own.
	SharedIOPS Sharing `json:"shared_iops,omitempty"`
	SharedRate Sharing `json:"shared_rate,omitempty"`
}

// Sharing says whether reads and writes take of one budget, and how that is known.
type Sharing string

// The kinds of sharing.
const (
	Apart   Sharing = ""
	Stated  Sharing = "stated"  // by the vendor, or by who reads its page
	Assumed Sharing = "assumed" // no source says: the media of a drive is one
)

// Known says whether any figure is known.
func (l Limits) Known() bool { return l != Limits{} }

// Override takes what other limits state.
func (l *Limits) Override(d Limits) {
	l.IOPS, l.Rate = cmp.Or(d.IOPS, l.IOPS), cmp.Or(d.Rate, l.Rate)
	l.ReadIOPS, l.WriteIOPS = cmp.Or(d.ReadIOPS, l.ReadIOPS), cmp.Or(d.WriteIOPS, l.WriteIOPS)
	l.ReadRate, l.WriteRate = cmp.Or(d.ReadRate, l.ReadRate), cmp.Or(d.WriteRate, l.WriteRate)
	if d.ReadIOPS > 0 || d.WriteIOPS > 0 {
		l.SharedIOPS = d.SharedIOPS
	}
	if d.ReadRate > 0 || d.WriteRate > 0 {
		l.SharedRate = d.SharedRate
	}
}

// OfDrive are the limits of a drive that states its reads and its writes: no source says how they share,
// and both are taken to be of one budget, for they use the same media.
func (l Limits) OfDrive() Limits {
	if l.ReadIOPS > 0 && l.WriteIOPS > 0 {
		l.SharedIOPS = Assumed
	}
	if l.ReadRate > 0 && l.WriteRate > 0 {
		l.SharedRate = Assumed
	}
	return l
}

// Cap is what a machine allows some of its volumes together, beside or in the place of what it allows
// all of them.
type Cap struct {
	// Name tells the caps of a machine apart in texts: "pd-ssd", "host cache".
	Name string `json:"name"`
	// Types are the volume types that count against it; nil: any.
	Types []string `json:"types,omitempty"`
	// Cache says that what passes the host's cache counts, and nothing else does.
	Cache bool `json:"cache,omitempty"`
	// Baseline is sustained. Burst is zero without one, and follows the machine's BurstRule.
	Baseline Limits `json:"baseline"`
	Burst    Limits `json:"burst"`
	// MiB says that the vendor states throughput in MiB/s.
	MiB bool `json:"mib,omitempty"`
	Provenance
}

// For says whether volumes of a type count against the cap.
func (c Cap) For(typ string) bool { return !c.Cache && slices.Contains(c.Types, typ) }

// BurstRule is how a machine's burst is spent.
type BurstRule string

// The rules of bursts.
const (
	// ByTime: for BurstFor of any use above the baseline, once in BurstPer.
	ByTime BurstRule = ""
	// ByCredits: from a bucket that BurstFor at the whole burst empties, and that what is left unused of
	// the baseline fills.
	ByCredits BurstRule = "credits"
)

// UnmarshalText reads a rule of the terms.
func (b *BurstRule) UnmarshalText(text []byte) error {
	if *b = BurstRule(text); *b != ByTime && *b != ByCredits {
		return fmt.Errorf("%.40q: want %s, or nothing for a time per day", text, ByCredits)
	}
	return nil
}
