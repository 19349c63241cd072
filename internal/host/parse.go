package host

import (
	"slices"
	"strings"

	"plimsoll/internal/block"
)

// parseFstab reads the lines of /etc/fstab (fstab(5)); what is no line of it is passed over, as
// mount does.
func parseFstab(text string) []Fstab {
	var all []Fstab
	n := 0
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		options := "defaults"
		if len(f) > 3 {
			options = f[3]
		}
		all = append(
			all,
			Fstab{
				Line:    n,
				Spec:    strings.ReplaceAll(block.Unescape(f[0]), `"`, ""),
				Point:   block.Unescape(f[1]),
				FS:      f[2],
				Options: strings.Split(options, ","),
			},
		)
	}
	return all
}

// parseMdadm reads the ARRAY lines of mdadm.conf(5): keywords in any case of which three letters
// are enough, and a line that begins with a blank continues the one before.
func parseMdadm(text string) []Array {
	var all []Array
	in := false
	for line := range strings.Lines(text) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Fields(line)
		if line[0] != ' ' && line[0] != '\t' {
			key := strings.ToLower(words[0])
			if in = slices.Contains([]string{"arr", "arra", "array"}, key); in {
				all = append(all, Array{})
				words = words[1:]
			}
		}
		if !in {
			continue
		}
		a := &all[len(all)-1]
		for _, w := range words {
			key, value, has := strings.Cut(w, "=")
			switch value = strings.Trim(value, `"'`); {
			case !has && a.Device == "":
				a.Device = w
			case strings.EqualFold(key, "uuid"):
				a.UUID = value
			case strings.EqualFold(key, "name"):
				a.Name = value
			}
		}
	}
	return all
}
