package text

// Nearest is the word that was probably meant by name, "" when none is similar: 1 is no slip for 0. Of
// equally similar words the first wins.
func Nearest(name string, words []string) (nearest string) {
	best := max(1, min(len(name)/3, 4)) + 1
	for _, w := range words {
		if d := distance(name, w, best); d < best && d < max(len(name), len(w)) {
			best, nearest = d, w
		}
	}
	return nearest
}

// distance is Damerau's (optimal string alignment): insertions, deletions, replacements and swaps
// of neighbours. At limit or above it may stop early.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit || len(a) > 64 {
		return limit
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
