package machine

import (
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
)

// A host that could not be checked is named with its reason before any finding, and several of one reason in one line.
func TestHostsThatWereNotCheckedComeFirst(t *testing.T) {
	c := &bundle.FleetCheck{Via: "ssh", Tool: "plimsoll", Hosts: []bundle.FleetChecked{
		{FleetHost: bundle.FleetHost{Name: "w1", State: bundle.HostDone}},
		{FleetHost: bundle.FleetHost{Name: "w7", State: bundle.HostRefused, Why: "data does not exist"}},
	}}
	var out strings.Builder
	if err := page.Write(&out, page.Text, FleetCheck(c), page.Options{Details: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "1 of 2 hosts ok: w7: data does not exist\n") {
		t.Error(out.String())
	}
	c.Hosts = append(c.Hosts, c.Hosts[1], c.Hosts[1])
	if d := FleetCheck(c); len(d.Head.Says) != 1 || d.Head.Says[0].Text != "w7, w7 and w7: data does not exist" {
		t.Errorf("reasons for three hosts: %+v", d.Head.Says)
	}
}
