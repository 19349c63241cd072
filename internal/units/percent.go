package units

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePercent reads "0.7%" or "0.7 %" as the share 0.007, exactly: the decimal point moves, nothing is
// divided. It needs the sign, since 0.7 and 70 would be read alike, and takes no negative number.
func ParsePercent(s string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	number = strings.TrimSpace(number)
	share, err := strconv.ParseFloat(number+"e-2", 64)
	if !ok || err != nil || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("%.40q: want a percentage such as 0.7%%", s)
	}
	return share, nil
}
