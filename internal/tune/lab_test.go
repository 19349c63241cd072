package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab/labtest"
)

// TestInTheLab tunes a guest's real kernel by a persistent rule, has udev bring the settings back,
// and goes back to what was.
func TestInTheLab(t *testing.T) {
	g := labtest.Start(t, "gp3x8-raid10")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := g.Bash(ctx, `set -e
drive=$(ls /sys/block | grep -m1 ^nvme); data=$(basename $(findmnt -no SOURCE /data)); wal=$(basename $(findmnt -no SOURCE /wal))
etc() { cd /; find etc -exec stat -c '%n %a %N' {} + | sort; find etc -type f -print0 | sort -z | xargs -0 sha256sum; }
show() { echo $1: $(sed 's/.*\[\(.*\)\].*/\1/' /sys/block/$drive/queue/scheduler) $(cat /sys/block/$data/queue/read_ahead_kb /sys/block/$wal/queue/read_ahead_kb); }
plimsoll check --data /data --wal /wal > /tmp/healthy
! grep -E '^PL[0-9]+ (warning|error|invalid)' /tmp/healthy
echo mq-deadline > /sys/block/$drive/queue/scheduler; echo 0 > /sys/block/$data/queue/read_ahead_kb; echo 256 > /sys/block/$wal/queue/read_ahead_kb
etc > /tmp/before; show before
plimsoll check --data /data --wal /wal | grep ^PL302
plimsoll tune --data /data --wal /wal --dry-run > /dev/null; show dry
plimsoll tune --data /data --wal /wal --persist > /dev/null; show tuned
echo mq-deadline > /sys/block/$drive/queue/scheduler; echo 128 > /sys/block/$data/queue/read_ahead_kb; echo 128 > /sys/block/$wal/queue/read_ahead_kb
udevadm control --reload; udevadm trigger --subsystem-match=block --action=change; udevadm settle; show udev
plimsoll tune --revert > /dev/null; show reverted
etc > /tmp/after; cmp /tmp/before /tmp/after; test ! -e /var/lib/plimsoll/tune.json
mdadm -q /dev/$data --fail /dev/$(ls /sys/block/$data/slaves | head -1)
plimsoll check --data /data --wal /wal > /tmp/degraded || echo "check: $?"
grep -cE '^PL201 error|^PL316 warning' /tmp/degraded`)
	if err != nil {
		t.Fatal(err)
	}
	want := `before: mq-deadline 0 256
PL302 warning: nvme0n1 sorts requests with mq-deadline.
dry: mq-deadline 0 256
tuned: none 512 2048
udev: none 512 2048
reverted: mq-deadline 0 256
check: 3
2
`
	if got := r.Stdout; r.Code != 0 || strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("exit %d\n%s%s\nwant\n%s", r.Code, got, r.Stderr, want)
	}
}
