package stats

import (
	"math"
	"slices"
)

// Paired is what pairs of measurements say of a share: in each pair the first is slow where a
// property holds that the second, made just after it at the same place, does not have any more.
type Paired struct {
	Pairs int `json:"pairs"`
	// Share is the estimated part of all places with the property, from Low to High with 95 %.
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// First and Again are the medians of both measurements, and Over the upper quartile of the
	// second ones, beyond which Share counts.
	First float64 `json:"first"`
	Again float64 `json:"again"`
	Over  float64 `json:"over"`
	// Claimed says that the share is real: see PairedShare.
	Claimed bool `json:"claimed"`
	// Unsure says that the measurements vary too much to tell how large the share is, or that there is none.
	Unsure bool `json:"unsure,omitempty"`
	noisy  float64
}

// What makes a share real. Set by simulation (TestPairedShareClaims): without far a volume whose
// first reads are 2 % slower throughout had a share of 16 %.
const (
	pairedQuantile = 0.75
	pairedLeast    = 0.15
	pairedFar      = 0.10 // of the pairs, by which more first than second ones lie far beyond
	pairedHalf     = 0.5  // of the second ones' median is far, or least where that is more
	normal95       = 1.96
	pairedApart    = 1.5 // times the second ones' median the first ones' is: something has the property
	pairedNoise    = 0.9 // quantile of the second ones beyond which noise alone reaches the first ones' median
)

// PairedShare estimates the share from pairs (first[i], again[i]). t is the upper quartile of the
// second ones, p the part of the first ones beyond it. Where nothing has the property p is 1/4, where
// all have it 1: share = (p - 1/4)/(3/4), with the error of both p and t. A ratio of the two, such as
// three times as slow, is biased under load: both vary. The share is claimed where its interval is
// above 0, it is 0.15 at least, and far more first than second ones lie beyond t by least (in the
// unit of the measurements) or half a median. It is unsure where a share that is not claimed goes with first
// ones that are far slower, where noise reaches as far as the property does, and where the two halves of the
// pairs disagree.
func PairedShare(first, again []float64, least float64) Paired {
	r := pairedShare(first, again, least)
	half := min(len(first), len(again)) / 2
	a, b := pairedShare(first[:half], again[:half], least), pairedShare(first[half:], again[half:], least)
	r.Unsure = !r.Claimed && r.First > pairedApart*r.Again+least || r.Claimed && r.noisy >= r.First ||
		a.Claimed != b.Claimed && (a.Low > b.High || b.Low > a.High)
	return r
}

func pairedShare(first, again []float64, least float64) Paired {
	n := min(len(first), len(again))
	if n == 0 {
		return Paired{}
	}
	first, again = first[:n], again[:n]
	sorted := slices.Sorted(slices.Values(again))
	at := func(q float64) float64 { return sorted[int(q*float64(n-1))] }
	r := Paired{Pairs: n, Again: at(0.5), Over: at(pairedQuantile), noisy: at(pairedNoise)}
	r.First = slices.Sorted(slices.Values(first))[int(0.5*float64(n-1))]
	p, count := beyond(first, r.Over), float64(n)
	raw := (p - (1 - pairedQuantile)) / pairedQuantile
	deviation := math.Sqrt(p*(1-p)/count+pairedQuantile*(1-pairedQuantile)/count) / pairedQuantile
	r.Share, r.Low, r.High = clip(raw), clip(raw-normal95*deviation), clip(raw+normal95*deviation)
	far := r.Over + max(least, pairedHalf*r.Again)
	r.Claimed = r.Low > 0 && r.Share >= pairedLeast && beyond(first, far)-beyond(again, far) >= pairedFar
	return r
}

func beyond(x []float64, limit float64) float64 {
	n := 0
	for _, v := range x {
		if v > limit {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

func clip(v float64) float64 { return max(0, min(1, v)) }
