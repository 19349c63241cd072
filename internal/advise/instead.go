package advise

import (
	"fmt"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Instead says what as many volumes of another type, as large and provisioned for the demand, would
// cost a month instead of those of was. It is empty where the type does not meet the demand.
func Instead(r Request, typ string, was Candidate) (string, error) {
	if r.Prices == nil {
		r.Prices = cloud.BuiltinPrices()
	}
	if why := r.unfit(typ); why != "" {
		return "", nil
	}
	own := *r.Demand
	own.Capacity = was.Layout.Spec.Size * units.Bytes(was.Layout.N)
	if was.Survives == "volume" {
		own.Capacity /= 2
	}
	r.Demand, r.Keep = &own, nil
	l := was.Layout
	l.Spec = cloud.VolumeSpec{Type: typ}
	r.known, r.required = nil, nil
	l, ok := r.provision(l)
	if !ok {
		return "", nil
	}
	each, ok := r.Prices.Volume(l.Spec)
	if !ok {
		return "", fmt.Errorf("%s has no price", typ)
	}
	month := each * cloud.USD(l.N)
	text := fmt.Sprintf("as %s with %v IOPS", typ, l.Spec.IOPS)
	if l.Spec.Rate > 0 {
		text += " and " + units.Number(float64(l.Spec.Rate/units.MiBPerSec)) + " MiB/s"
	}
	text += fmt.Sprintf(" each they cost %v: ", month)
	if month <= was.VolumesMonth {
		return text + fmt.Sprintf("%v less, and they do not burst", was.VolumesMonth-month), nil
	}
	return text + fmt.Sprintf("%v more", month-was.VolumesMonth), nil
}
