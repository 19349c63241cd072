package cloud

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

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
