package finding

import (
	"fmt"
	"time"

	"plimsoll/internal/text"
)

// Says is a sentence in the words of fmt, in which %v is a value as package text prints it: how long
// something lasts, a count with its thousands separated, a share (a float64) in per cent, and the first
// three of some names. Figures with a unit have a type that prints them.
func Says(format string, args ...any) string {
	for i, a := range args {
		args[i] = printed(a)
	}
	return fmt.Sprintf(format, args...)
}

// Seen is a piece of evidence, with what was found and what was expected as Says prints them.
func Seen(what string, found, expected any, where string) Evidence {
	return Evidence{what, Says("%v", found), Says("%v", expected), where}
}

// A count and a share are numbers still, to other verbs than %v.
type (
	count int64
	share float64
)

func (n count) String() string { return text.Count(n) }
func (s share) String() string { return text.Percent(float64(s)) }

// printed is a value whose %v is the text for people.
func printed(value any) any {
	switch v := value.(type) {
	case time.Duration:
		return text.Duration(v)
	case int:
		return count(v)
	case uint64:
		return count(v)
	case float64:
		return share(v)
	case []string:
		return text.Some(v, 3)
	}
	return value
}
