// Package findings holds the pages of all findings, as the documentation shows them and plimsoll explain prints them.
package findings

import "embed"

// Pages has CODE.md for each code.
//
//go:embed PL*.md
var Pages embed.FS
