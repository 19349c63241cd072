package bundle

import (
	"path/filepath"
	"slices"
)

// ListFleets returns the fleet runs below out, newest first, each under the name of its directory.
// What cannot be read is passed over, as in List.
func ListFleets(out string) ([]*Fleet, error) {
	entries, err := entriesOf(out)
	if err != nil {
		return nil, err
	}
	var all []*Fleet
	for _, e := range entries {
		dir := filepath.Join(out, e.Name())
		if !IsFleet(dir) {
			continue
		}
		if f, err := OpenFleet(dir); err == nil {
			f.ID = e.Name()
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *Fleet) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// FleetHosts is the directory below a fleet run that holds the runs of its hosts.
func FleetHosts(dir string) string { return filepath.Join(dir, "hosts") }
