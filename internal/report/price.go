package report

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// pricedVolume is a volume type with its price, as --json prints it.
type pricedVolume struct {
	cloud.VolumeType
	Price *cloud.VolumePrice `json:"price,omitempty"` // absent: no price is known
}

func priced(v cloud.VolumeType) pricedVolume {
	if p, ok := cloud.BuiltinPrices().Volumes[v.Type]; ok {
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
	if hour, ok := cloud.BuiltinPrices().Instances[f.Type]; ok {
		return instanceWithPrice{f, &hour}
	}
	return instanceWithPrice{InstanceFacts: f}
}

func (t *terminal) volumePrice(typ string) {
	p := cloud.BuiltinPrices()
	v, ok := p.Volumes[typ]
	if !ok {
		fmt.Fprintln(t.out, "  price:  no price is known")
		return
	}
	parts := []string{"$" + v.GiB.Exact() + " a GiB"}
	for i, tier := range v.IOPS {
		parts = append(parts, tierText(v.IOPS, i, tier, " IOPS"))
	}
	for i, tier := range v.Rate {
		parts = append(parts, tierText(v.Rate, i, tier, " MiB/s"))
	}
	t.para(
		"  ",
		plain,
		"price:  "+"a month in "+p.Region+": "+strings.Join(parts, "; ")+"; "+priceSource(p.VolumeSource),
	)
}

func tierText(all []cloud.Tier, i int, t cloud.Tier, unit string) string {
	phrase := "$" + t.USD.Exact() + " for each" + unit
	if t.Above > 0 {
		phrase += " above " + units.IOPS(t.Above).String()
	}
	if i+1 < len(all) {
		phrase += " up to " + units.IOPS(all[i+1].Above).String()
	}
	return phrase
}

func (t *terminal) instancePrice(typ string) {
	p := cloud.BuiltinPrices()
	month, ok := p.Instance(typ)
	if !ok {
		fmt.Fprintf(t.out, "  price:  no price is known in %s\n", p.Region)
		return
	}
	t.para("  ", plain, "price:  "+fmt.Sprintf("$%s an hour, %v a month of %d h (Linux, on demand, %s); %s",
		p.Instances[typ].Exact(), month, cloud.HoursPerMonth, p.Region, priceSource(p.InstanceSource)))
}

// priceSource cites a price's source, with a warning when it is old.
func priceSource(from cloud.Provenance) string {
	phrase := "source: " + from.String()
	if from.Trust != cloud.Verified {
		phrase += ", second-hand"
	}
	if from.Stale(time.Now()) {
		phrase += "; older than a year"
	}
	return phrase
}

func (t *terminal) priceSources() {
	p := cloud.BuiltinPrices()
	fmt.Fprintf(t.out, "\nPrices of %s\n", p.Region)
	t.para("  ", plain, fmt.Sprintf("%d instance types, %s", len(p.Instances), priceSource(p.InstanceSource)))
	t.para("  ", plain, fmt.Sprintf("%d volume types, %s", len(p.Volumes), priceSource(p.VolumeSource)))
}
