package cloud

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/units"
)

// AWS's price list is one JSON document for each service and region: products by SKU, and terms by
// kind and SKU. Its form is described at
// docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file.html; what
// plimsoll takes of it are Linux instances on demand with shared tenancy and nothing pre-installed,
// and EBS volumes.

type offerProduct struct {
	Family     string            `json:"productFamily"`
	Attributes map[string]string `json:"attributes"`
}

type offerTerm struct {
	Dimensions map[string]struct {
		Unit  string            `json:"unit"`
		Begin string            `json:"beginRange"`
		Price map[string]string `json:"pricePerUnit"`
	} `json:"priceDimensions"`
}

// wanted is the product and unit that a product of the list is to plimsoll; false for all others.
func (o offerProduct) wanted() (product, unit string, ok bool) {
	a := o.Attributes
	switch o.Family {
	case "Compute Instance":
		plain := a["operatingSystem"] == "Linux" && a["tenancy"] == "Shared" && a["preInstalledSw"] == "NA"
		return a["instanceType"], perHour, plain && a["capacitystatus"] == "Used"
	case "Storage":
		return a["volumeApiName"], perGiB, a["volumeApiName"] != ""
	case "System Operation":
		return a["volumeApiName"], perIOPS, strings.Contains(a["usagetype"], "EBS:VolumeP-IOPS") &&
			a["volumeApiName"] != ""
	case "Provisioned Throughput":
		return a["volumeApiName"], perMiB, strings.Contains(a["usagetype"], "EBS:VolumeP-Throughput") &&
			a["volumeApiName"] != ""
	}
	return "", "", false
}

// readOffer reads an offer file piece by piece: that of a region is some 200 MB, of which a few
// hundred kB matter. Products stand before terms in it.
func (p *Prices) readOffer(r io.Reader) error {
	d := json.NewDecoder(r)
	source := Provenance{Source: "AWS price list", Trust: Verified}
	keep := map[string]offerProduct{}
	var rows []priceRow
	err := object(d, func(key string) error {
		switch key {
		case "publicationDate":
			var at string
			if err := d.Decode(&at); err != nil {
				return err
			}
			source.AsOf = at[:min(len(at), len("2006-01-02"))]
		case "products":
			return object(d, func(sku string) error {
				var o offerProduct
				if err := d.Decode(&o); err != nil {
					return err
				}
				if _, _, ok := o.wanted(); ok {
					keep[sku] = o
				}
				return nil
			})
		case "terms":
			return object(d, func(kind string) error {
				if kind != "OnDemand" {
					return skip(d)
				}
				if len(keep) == 0 {
					return errors.New("no product of it is a Linux instance or an EBS volume")
				}
				return object(d, func(sku string) error {
					o, ok := keep[sku]
					if !ok {
						return skip(d)
					}
					var terms map[string]offerTerm
					if err := d.Decode(&terms); err != nil {
						return err
					}
					rows = append(rows, o.rows(terms)...)
					return nil
				})
			})
		default:
			return skip(d)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("AWS price list: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b priceRow) int {
		return cmp.Or(cmp.Compare(a.product, b.product), cmp.Compare(a.unit, b.unit),
			cmp.Compare(begin(a.above), begin(b.above)))
	})
	for _, row := range rows {
		row.Provenance = source
		if err := p.add(row); err != nil {
			return fmt.Errorf("AWS price list: %s: %w", row.product, err)
		}
	}
	return nil
}

// included is how many units a volume type brings, where the list does not state it.
func included(product, unit string) float64 {
	for _, t := range VolumeTypes() {
		switch {
		case t.Type == product && unit == perIOPS:
			return float64(t.IOPS.Included)
		case t.Type == product && unit == perMiB:
			return float64(t.Rate.Included / units.MiBPerSec)
		}
	}
	return 0
}

// begin is the start of a price's range, 0 when it is empty.
func begin(s string) float64 {
	return row{[]string{"n"}, []string{s}}.num("n")
}

// rows are the prices of one product. Throughput is priced by the GiB/s; plimsoll's unit is the
// MiB/s.
func (o offerProduct) rows(terms map[string]offerTerm) []priceRow {
	product, unit, _ := o.wanted()
	var rows []priceRow
	for _, term := range terms {
		for _, d := range term.Dimensions {
			usd, ok := d.Price["USD"]
			v, err := ParseUSD(usd)
			if !ok || err == nil && v == 0 { // what is free is no tier of its own
				continue
			}
			above := begin(d.Begin)
			if strings.HasPrefix(d.Unit, "GiBps") {
				usd, above = (v / 1024).Exact(), above*1024
			}
			if above == 0 {
				above = included(product, unit)
			}
			text := ""
			if unit == perIOPS || unit == perMiB {
				text = fmt.Sprintf("%.0f", above)
			}
			rows = append(rows,
				priceRow{product: product, unit: unit, above: text, usd: usd, region: o.Attributes["regionCode"]})
		}
	}
	return rows
}

// object calls f with each key of the JSON object that comes next; f reads the value.
func object(d *json.Decoder, f func(key string) error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("byte %d: want an object", d.InputOffset())
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := f(name); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// skip reads the value that comes next and drops it, without holding it whole.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
