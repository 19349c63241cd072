package plans_test

import (
	"strings"
	"testing"

	"plimsoll/internal/provision"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/topology"
)

// A plan says of an array that is there already that nothing is done to it, and ends with what is done once for all:
// neither is left to --details. A plan without them says neither.
func TestPlanSaysWhatExistsAndWhatIsDoneOnce(t *testing.T) {
	work := &records.Work{
		Array: "data", Want: records.Want{Level: topology.RAID0, Using: "md"},
		Members: []records.Member{
			{Serial: "S1", Path: "/dev/a", Size: 1 << 30}, {Serial: "S2", Path: "/dev/b", Size: 1 << 30},
		},
	}
	said := func(p *provision.Plan) string {
		var b strings.Builder
		if err := page.Write(&b, page.Text, plans.Plan(p), page.Options{Width: 300}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const exists = "data: /dev/md/data exists as declared. plimsoll did not create it, and teardown will not touch it."
	const once = "finally, once for all arrays: update-initramfs -u"
	if got := said(&provision.Plan{Arrays: []*records.Work{work}}); strings.Contains(got, "exists") ||
		strings.Contains(got, "finally") {
		t.Errorf("a new array, and no initramfs:\n%s", got)
	}
	work.Found = true
	got := said(&provision.Plan{Arrays: []*records.Work{work}, Initramfs: []string{"update-initramfs", "-u"}})
	if first, rest, _ := strings.Cut(got, exists); first == got || !strings.Contains(rest, once) {
		t.Errorf("%s\nwant\n%s\n%s", got, exists, once)
	}
}
