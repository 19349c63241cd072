package plans

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// OnType is what a layout gives a scenario on one instance type, and what the type costs a month.
type OnType struct {
	Type      string `json:"instance"`
	Scenario  string
	Most      *ceiling.Bound `json:"most,omitempty"` // in a test of some minutes
	BurstFor  time.Duration  `json:"burst_for,omitempty"`
	Sustained *ceiling.Bound `json:"sustained,omitempty"`
	Month     cloud.USD      `json:"usd_micro_month,omitempty"` // absent: no price is known
	PerIOPS   cloud.USD      `json:"usd_micro_per_sustained_iops,omitempty"`
	unpaced   bool           // see ceiling.Unpaced
}

// PriceOn completes what the ceiling of a scenario says of an instance type by its price.
func PriceOn(typ string, s Outlook) OnType {
	o := OnType{Type: typ, Scenario: s.Name, unpaced: s.Ceiling.Unpaced()}
	if held := s.Ceiling.Held(); !o.unpaced {
		o.Most, o.BurstFor, o.Sustained = held.Now, held.For, held.Lasts()
	}
	f, _ := cloud.InstanceLimits(typ)
	if month, ok := pricesOf(f.Vendor).Instance(cmp.Or(f.Type, typ)); ok {
		o.Month = month
		if o.Sustained != nil && o.Sustained.IOPS > 0 {
			o.PerIOPS = month.Times(1 / float64(o.Sustained.IOPS))
		}
	}
	return o
}

func month(u cloud.USD) string {
	return text.Either(u == 0, words.None, u.String())
}

func perIOPS(u cloud.USD) string {
	return text.Either(u == 0, words.None, "$"+words.Decimal(float64(u)/1e6, 4))
}

func iopsCell(n units.IOPS) page.Cell { return page.Exact(n.String(), n) }

func limitCells(l cloud.Limits) []page.Cell { return page.Cells(iopsCell(l.IOPS), rateCell(l.Rate)) }

func rateCell(r units.Rate) page.Cell { return page.Exact(r.SI(), r) }

func monthCell(u cloud.USD) page.Cell { return page.Exact(month(u), float64(u)/1e6) }

func perIOPSCell(u cloud.USD) page.Cell { return page.Exact(perIOPS(u), float64(u)/1e6) }

// OnTypes is the document of ceilings on several instance types beside each other.
func OnTypes(all []OnType, now time.Time) *page.Document {
	d := page.New("ceiling", cmp.Or(mostOn(all), "Ceilings by instance type"), "types", all)
	t := page.NewTable("<instance, <scenario, IOPS, for?, sustained, <limited by?, per month, per IOPS")
	t.Keys("instance, scenario, iops, burst_s, sustained_iops, limited_by, usd_per_month, usd_per_iops")
	notes := []string{"Per IOPS is the price of the instance for each sustained I/O per second, without volumes."}
	for _, o := range all {
		if o.unpaced {
			notes = text.Once(notes, o.Scenario+": "+depthOneHint)
		}
		limits := page.Cells(words.None, "", words.None, "")
		if o.Most != nil {
			limits = page.Cells(iopsCell(o.Most.IOPS), "", iopsCell(o.Sustained.IOPS), o.Sustained.Label())
		}
		if o.BurstFor > 0 {
			limits[1] = page.Exact(text.Duration(o.BurstFor), o.BurstFor.Seconds())
		}
		t.Add(o.Type, o.Scenario, limits, monthCell(o.Month), perIOPSCell(o.PerIOPS))
	}
	d.Add(t, page.Sentences(notes...), priceSources(now))
	return d
}

// mostOn names the type that sustains the most of the first scenario.
func mostOn(all []OnType) string {
	var best *OnType
	for _, o := range all {
		if o.Scenario == all[0].Scenario && o.Sustained != nil &&
			(best == nil || o.Sustained.IOPS > best.Sustained.IOPS) {
			best = &o
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("%s sustains the most of %s: %s (%s)", best.Type, best.Scenario,
		words.Operations(best.Sustained.IOPS), best.Sustained.Label())
}

// InstanceTable is the document of several instance types of the catalogue beside each other; false
// with the first name that is none.
func InstanceTable(names []string, now time.Time) (d *page.Document, unknown string, ok bool) {
	t := page.NewTable("<instance, vCPUs?, memory?, IOPS, sustained, rate, sustained, per month, per IOPS")
	t.Keys("instance, vcpus, memory_bytes, iops, sustained_iops, bandwidth_bytes_per_s, " +
		"sustained_bandwidth_bytes_per_s, usd_per_month, usd_per_iops")
	var all []instanceWithPrice
	for _, n := range names {
		f, ok := cloud.InstanceLimits(n)
		if !ok {
			return nil, n, false
		}
		each := cloud.USD(0)
		price, _ := pricesOf(f.Vendor).Instance(f.Type)
		if f.Baseline.IOPS > 0 {
			each = price.Times(1 / float64(f.Baseline.IOPS))
		}
		t.Add(f.Type, units.Number(float64(f.VCPUs)), page.Exact(f.Memory.String(), f.Memory),
			iopsCell(max(f.Burst.IOPS, f.Baseline.IOPS)), iopsCell(f.Baseline.IOPS),
			rateCell(max(f.Burst.Rate, f.Baseline.Rate)), rateCell(f.Baseline.Rate), monthCell(price), perIOPSCell(each))
		all = append(all, pricedInstance(f))
	}
	d = entry(text.Several(all, "instance type"), "instance_types", all)
	d.Add(t, priceSources(now))
	return d, "", true
}
