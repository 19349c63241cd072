package cli

// former are commands by the names that they had before the first release, with what is typed now.
// None of these names is taken: whoever types one of them gets the new one, and nothing is done.
func former() map[string]string {
	return map[string]string{
		"apply":    "plimsoll array apply FILE",
		"export":   "plimsoll report RUN --format openmetrics",
		"history":  "plimsoll runs --history",
		"plan":     "plimsoll array plan FILE",
		"show":     "plimsoll suites SCENARIO",
		"teardown": "plimsoll array teardown",
		"verify":   "plimsoll array verify FILE",
		"warm":     "plimsoll array warm PATH",
	}
}
