package form

import (
	"fmt"
	"strings"
	"testing"
)

// NumberFlags puts a number in the place of the help of each flag until the test ends, and gives the rows by it.
func NumberFlags(t *testing.T) map[string]string {
	before := flagTable
	t.Cleanup(func() { flagTable = before })
	rows := map[string]string{}
	head, body, _ := strings.Cut(strings.TrimSpace(before), "\n")
	flagTable = head
	for row := range strings.SplitSeq(body, "\n") {
		number := fmt.Sprintf("number%04d", len(rows))
		rows[number] = row
		flagTable += "\n" + row[:strings.LastIndexByte(row, '\t')+1] + number
	}
	return rows
}
