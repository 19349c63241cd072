package cloud

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// Prices are what a region's instances and volumes cost. A product that is not in it has no price,
// and none is guessed.
type Prices struct {
	Region string `json:"region"`
	// Instances are Linux on demand with shared tenancy, dollars an hour.
	Instances map[string]USD         `json:"instances"`
	Volumes   map[string]VolumePrice `json:"volumes"`
	// The dates and sources of the instances' and the volumes' prices: those of the newest row.
	InstanceSource Provenance `json:"instance_source"`
	VolumeSource   Provenance `json:"volume_source"`
}

// VolumePrice is a volume type's price a month.
type VolumePrice struct {
	GiB USD `json:"gib" unit:"usd_micro_month"`
	// Each is the price of a volume of a tier, such as P30, which is listed by its name.
	Each USD    `json:"each,omitempty" unit:"usd_micro_month"`
	IOPS []Tier `json:"iops,omitempty"` // of each provisioned IOPS, ascending
	Rate []Tier `json:"rate,omitempty"` // of each provisioned MiB/s, ascending, or MB/s where PerMB says so
	// PerMB says that throughput is billed by the MB/s of 10^6 bytes, as Azure does.
	PerMB bool `json:"per_mb,omitempty"`
}

// rateUnit is what throughput is billed in.
func (v VolumePrice) rateUnit() units.Rate {
	if v.PerMB {
		return units.MBPerSec
	}
	return units.MiBPerSec
}

// Tier is the price of each unit above a number of them; the first units are free where no tier
// begins at 0.
type Tier struct {
	Above float64 `json:"above"`
	USD   USD     `json:"usd" unit:"micro"`
}

// HoursPerMonth is AWS's own convention for a monthly figure.
const HoursPerMonth = 730

// Instance is what an instance type costs a month; false when it has no price.
func (p *Prices) Instance(typ string) (USD, bool) {
	name, _, _ := strings.Cut(typ, ":") // rows of one size differ behind it
	hour, ok := p.Instances[name]
	return hour * HoursPerMonth, ok
}

// Lacks names the price that is missing of a volume as ordered, as a list has it: "P30 in volume-month";
// empty where all of its parts have one.
func (p *Prices) Lacks(spec VolumeSpec) (lacks string) {
	v, ok := p.Volumes[spec.Type]
	t, _ := TypeNamed(spec.Type)
	switch tier := t.tierOf(spec); {
	case tier != nil && p.Volumes[tier.Name].Each > 0:
		return ""
	case len(t.Tiers) > 0:
		return cmp.Or(tier, &TierFacts{Name: spec.Type}).Name + " in " + perEach
	case !ok:
		lacks = perGiB
	case t.OrdersIOPS() && spec.IOPS > t.IOPS.Included && len(v.IOPS) == 0:
		lacks = perIOPS
	case t.OrdersRate() && spec.Rate > t.Rate.Included && len(v.Rate) == 0:
		if lacks = perMiB; t.RateUnit() == units.MBPerSec {
			lacks = perMB
		}
	default:
		return ""
	}
	return spec.Type + " in " + lacks
}

// Volume is what a volume costs a month as ordered; false when any part of it has no price. IOPS and
// rate that are not stated are those included.
func (p *Prices) Volume(spec VolumeSpec) (USD, bool) {
	if p.Lacks(spec) != "" {
		return 0, false
	}
	v := p.Volumes[spec.Type]
	if t, _ := TypeNamed(spec.Type); len(t.Tiers) > 0 {
		return p.Volumes[t.tierOf(spec).Name].Each, true
	}
	sum := v.GiB.Times(float64(spec.Size) / gib)
	sum += tiered(v.IOPS, float64(spec.IOPS))
	return sum + tiered(v.Rate, float64(spec.Rate/v.rateUnit())), true
}

func tiered(tiers []Tier, n float64) USD {
	var sum USD
	for i, t := range tiers {
		top := n
		if i+1 < len(tiers) {
			top = min(n, tiers[i+1].Above)
		}
		if top > t.Above {
			sum += t.USD.Times(top - t.Above)
		}
	}
	return sum
}

// Stale says that a date of a source, such as 2026-07-20 or 2026-07, lies more than a year before
// now, or cannot be read.
func (p Provenance) Stale(now time.Time) bool {
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if at, err := time.Parse(form, p.AsOf); err == nil {
			return now.After(at.AddDate(1, 0, 0))
		}
	}
	return true
}

// Cited names the source of a price, with a warning where it is second-hand, or old now.
func (p Provenance) Cited(now time.Time) string {
	cited := p.String()
	if p.Trust != Verified {
		cited += ", second-hand"
	}
	if p.Stale(now) {
		cited += "; older than a year"
	}
	return cited
}

// BuiltinPrices are those of EC2.
func BuiltinPrices() *Prices { return AWS().Prices() }

// The units of a price list's rows.
const (
	perHour = "hour"
	perGiB  = "GiB-month"
	perEach = "volume-month"
	perIOPS = "IOPS-month"
	perMiB  = "MiB/s-month"
	perMB   = "MB/s-month"
)

// priceColumns head a price list.
var priceColumns = strings.Fields(`product unit above usd region as_of source trust`)

// ReadPrices reads a price list: plimsoll's CSV, which scripts/prices.py makes of AWS's own, or a
// CSV of instance types with the columns instance_type, usd_per_hour, source and as_of. Rows of two
// regions, a product listed twice, and a list without a single price are errors.
func ReadPrices(r io.Reader) (*Prices, error) {
	p := noPrices()
	err := p.readCSV(r)
	if err == nil && len(p.Instances)+len(p.Volumes) == 0 {
		err = errors.New("it has no price for an instance or a volume")
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func noPrices() *Prices {
	return &Prices{Instances: map[string]USD{}, Volumes: map[string]VolumePrice{}}
}

func (p *Prices) readCSV(r io.Reader) error {
	c := csv.NewReader(r)
	head, err := c.Read()
	if err != nil {
		return fmt.Errorf("price list: %w; want a CSV, which scripts/prices.py makes of AWS's JSON", err)
	}
	plain := slices.Contains(head, "usd_per_hour")
	if !plain {
		for _, want := range priceColumns[:len(priceColumns)-1] { // trust may be missing
			if !slices.Contains(head, want) {
				return fmt.Errorf("price list: the column %s is missing; want %q", want, priceColumns)
			}
		}
	}
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("price list: %w", err)
		}
		line, _ := c.FieldPos(0)
		at := row{head, cells}
		entry := priceRow{
			at.text("product"), at.text("unit"), at.text("above"), at.text("usd"), at.text("region"),
			Provenance{at.text("source"), at.text("as_of"), Trust(cmp.Or(at.text("trust"), string(Partial)))},
		}
		if plain {
			entry.product, entry.unit, entry.usd = at.text("instance_type"), perHour, at.text("usd_per_hour")
		}
		if err := p.add(entry); err != nil {
			return fmt.Errorf("price list line %d: %w", line, &yamlfile.Place{Line: line, Err: err})
		}
	}
}

// priceRow is one price as a list states it.
type priceRow struct {
	product, unit, above, usd, region string
	Provenance
}

func (p *Prices) add(r priceRow) error {
	usd, err := ParseUSD(r.usd)
	if err != nil {
		return err
	}
	if r.product == "" || len(r.product) > 60 {
		return fmt.Errorf("product %.60q: want an instance type or a volume type", r.product)
	}
	if p.Region != "" && r.region != "" && r.region != p.Region {
		return fmt.Errorf("region %.40q after %.40q: use the prices of one region", r.region, p.Region)
	}
	if p.Region == "" {
		p.Region = r.region
	}
	if r.unit == perHour {
		if _, twice := p.Instances[r.product]; twice {
			return fmt.Errorf("%s has two prices", r.product)
		}
		p.Instances[r.product] = usd
		p.InstanceSource = newest(p.InstanceSource, r.Provenance)
		return nil
	}
	above := 0.0
	if r.above != "" {
		n, err := units.ParseIOPS(r.above)
		if err != nil {
			return fmt.Errorf("above %.40q: want a number", r.above)
		}
		above = float64(n)
	}
	v := p.Volumes[r.product]
	into := &v.IOPS
	switch r.unit {
	case perGiB, perEach:
		of := map[string]*USD{perGiB: &v.GiB, perEach: &v.Each}[r.unit]
		if *of > 0 {
			return fmt.Errorf("%s has two prices in %s", r.product, r.unit)
		}
		*of, into = usd, nil
	case perIOPS:
	case perMiB, perMB:
		if into = &v.Rate; len(v.Rate) > 0 && v.PerMB != (r.unit == perMB) {
			return fmt.Errorf("%s has a price for each MB/s and one for each MiB/s", r.product)
		}
		v.PerMB = r.unit == perMB
	default:
		return fmt.Errorf("unit %.40q: want %s, %s, %s, %s, %s or %s", r.unit, perHour, perGiB, perEach, perIOPS, perMiB,
			perMB)
	}
	if into != nil {
		if n := len(*into); n > 0 && above <= (*into)[n-1].Above {
			return fmt.Errorf("%s: the tiers of %s do not rise", r.product, r.unit)
		}
		*into = append(slices.Clone(*into), Tier{above, usd})
	}
	p.Volumes[r.product] = v
	p.VolumeSource = newest(p.VolumeSource, r.Provenance)
	return nil
}

func newest(a, b Provenance) Provenance {
	if b.AsOf > a.AsOf {
		return b
	}
	return a
}

// Merge takes the prices of more over those of p, a kind at a time: a list without volumes leaves
// p's volumes. Another region is an error.
func (p *Prices) Merge(more *Prices) error {
	if p.Region != "" && more.Region != "" && p.Region != more.Region &&
		(len(more.Instances) == 0 || len(more.Volumes) == 0) {
		return fmt.Errorf("the list is for %s and lacks instances or volumes; the built-in ones are for %s", more.Region,
			p.Region)
	}
	if more.Region != "" {
		p.Region = more.Region
	}
	if len(more.Instances) > 0 {
		p.Instances, p.InstanceSource = more.Instances, more.InstanceSource
	}
	if len(more.Volumes) > 0 {
		p.Volumes, p.VolumeSource = more.Volumes, more.VolumeSource
	}
	return nil
}

// USD is an amount of money in millionths of a US dollar: prices of some types have six decimals,
// and sums of them are rounded once, when they are printed.
type USD int64

// String prints u in dollars and cents, rounded half up: "$1,477.25".
func (u USD) String() string {
	sign, v := "", uint64(u)
	if u < 0 {
		sign, v = "-", uint64(-u)
	}
	cents := (v + 5_000) / 10_000
	return fmt.Sprintf("%s$%s.%02d", sign, units.Group(strconv.FormatUint(cents/100, 10)), cents%100)
}

// Exact prints u with all its decimals, as price lists do: "0.03185".
func (u USD) Exact() string {
	text := fmt.Sprintf("%d.%06d", u/1_000_000, u%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// ParseUSD reads a price such as 0.31904. Decimals beyond the sixth are rounded half up; more than
// 1e9 dollars, and less than none, is an error.
func ParseUSD(s string) (USD, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1e9) {
		return 0, fmt.Errorf("price %.40q: want dollars, such as 0.31904", s)
	}
	return USD(math.Floor(v*1e6 + 0.5)), nil
}

// Times is the price of n units, rounded to a millionth of a dollar. Parts of a unit cost their
// part.
func (u USD) Times(n float64) USD { return USD(math.Floor(float64(u)*n + 0.5)) }
