package bundle

import "plimsoll/internal/finding"

// FleetCheck is what a check of several hosts found. It is printed and not stored.
type FleetCheck struct {
	Tool  string         `json:"tool"`
	Via   string         `json:"via"` // ssh, srun, or a template
	Hosts []FleetChecked `json:"hosts"`
	// Findings are about the hosts together: what differs, clocks that are not known well enough.
	Findings []finding.Finding `json:"findings"`
}

// FleetChecked is one host of it. Its facts are the settings that should be the same on all hosts.
type FleetChecked struct {
	FleetHost
	Findings []finding.Finding `json:"findings"`
	Notes    []string          `json:"notes"` // what could not be seen there
}
