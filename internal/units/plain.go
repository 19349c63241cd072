package units

import "strings"

// Plain writes a number with a point for decimals and nothing else, whatever separates its digits: 27,101
// and 1.234,56 and 0,95. A comma or several points with three digits behind each part thousands; a comma
// with another number of digits behind it is a decimal one. ok is false for what is neither.
func Plain(s string) (plain string, ok bool) {
	comma, point := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.')
	decimal := max(comma, point)
	switch {
	case decimal < 0:
		return s, s != ""
	case comma < 0 && strings.Count(s, ".") == 1:
		return s, len(s) > 1
	case comma >= 0 && point >= 0, strings.Count(s, ",") == 1 && point < 0 && (len(s)-comma != 4 || s[:comma] == "0"):
	default:
		decimal = len(s)
	}
	whole := s[:decimal]
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == ',' || r == '.' })
	for i, g := range groups {
		if len(g) > 3 && len(groups) > 1 || i > 0 && len(g) != 3 {
			return "", false
		}
	}
	if len(groups) == 0 || strings.Count(whole, ",") > 0 && strings.Count(whole, ".") > 0 ||
		decimal < len(s) && strings.Contains(whole, s[decimal:decimal+1]) {
		return "", false
	}
	if plain = strings.Join(groups, ""); decimal < len(s) {
		plain += "." + s[decimal+1:]
	}
	return plain, true
}
