package plans

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// pricedVolume is a volume type with its price, as --json prints it.
type pricedVolume struct {
	cloud.VolumeType
	Price *cloud.VolumePrice `json:"price,omitempty"` // absent: no price is known
}

func priced(v cloud.VolumeType) pricedVolume {
	if p, ok := pricesOf(v.Provider).Volumes[v.Type]; ok {
		return pricedVolume{v, &p}
	}
	return pricedVolume{VolumeType: v}
}

// instanceWithPrice is an instance type with its price, as --json prints it.
type instanceWithPrice struct {
	cloud.InstanceFacts
	Hour *cloud.USD `json:"usd_micro_per_hour,omitempty"` // absent: no price is known
}

func pricedInstance(f cloud.InstanceFacts) instanceWithPrice {
	if month, ok := pricesOf(f.Vendor).Instance(f.Type); ok {
		hour := month / cloud.HoursPerMonth
		return instanceWithPrice{f, &hour}
	}
	return instanceWithPrice{InstanceFacts: f}
}

func volumePrice(t cloud.VolumeType, now time.Time) string {
	p := pricesOf(t.Provider)
	v, ok := p.Volumes[t.Type]
	var parts []string
	for _, tier := range t.Tiers {
		if each := p.Volumes[tier.Name].Each; each > 0 {
			parts = append(parts, tier.Name+" $"+each.Exact())
		}
	}
	switch {
	case len(parts) > 0:
		parts = []string{strings.Join(parts, ", ")}
	case !ok:
		return "no price is known"
	default:
		parts = []string{"$" + v.GiB.Exact() + " per GiB"}
	}
	tiers := func(all []cloud.Tier, unit string) {
		for i, t := range all {
			phrase := text.Join(" ", "$"+t.USD.Exact(), "for each", unit, words.Known("above", units.IOPS(t.Above)))
			if i+1 < len(all) {
				phrase += " up to " + units.IOPS(all[i+1].Above).String()
			}
			parts = append(parts, phrase)
		}
	}
	tiers(v.IOPS, "IOPS")
	tiers(v.Rate, text.Either(v.PerMB, "MB/s", "MiB/s"))
	return "per month in " + p.Region + ": " + strings.Join(parts, "; ") + "; source: " +
		p.VolumeSource.Cited(now)
}

// pricesOf are the prices of the catalogue of a vendor's cloud.
func pricesOf(vendor string) *cloud.Prices {
	if p := cloud.Named(vendor); p != nil {
		return p.Prices()
	}
	return cloud.BuiltinPrices()
}

func instancePrice(f cloud.InstanceFacts, now time.Time) string {
	p := pricesOf(f.Vendor)
	month, ok := p.Instance(f.Type)
	if !ok {
		return "no price is known in " + p.Region
	}
	return fmt.Sprintf("$%s per hour, %v per month of %d h (Linux, on demand, %s); source: %s",
		(month / cloud.HoursPerMonth).Exact(), month, cloud.HoursPerMonth, p.Region, p.InstanceSource.Cited(now))
}

func priceSources(now time.Time) page.Note {
	p := cloud.BuiltinPrices()
	n := page.Note{Title: "Prices of " + p.Region, Level: page.Detail}
	n.Say("%d instance types, source: %s", len(p.Instances), p.InstanceSource.Cited(now))
	n.Say("%d volume types, source: %s", len(p.Volumes), p.VolumeSource.Cited(now))
	return n
}
