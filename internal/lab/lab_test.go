package lab_test

import (
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// TestEveryPreset starts each machine and looks for what it is about, with the tools that an
// administrator would use.
func TestEveryPreset(t *testing.T) {
	for name, shows := range map[string]string{
		"gp3x8-raid10":         `grep -c "\[8/8\] \[UUUUUUUU\]" /proc/mdstat | grep -x 2 && grep -q " /data xfs.*sunit=128,swidth=512" /proc/mounts && grep " /wal xfs.*sunit=512,swidth=2048" /proc/mounts`,
		"gp2x4-raid0":          `grep "raid0.*nvme" /proc/mdstat && grep " /data xfs.*sunit=128,swidth=512" /proc/mounts`,
		"nvme8":                `dmsetup table | grep "striped 4 256" && grep " /t0 xfs.*sunit=128,swidth=512" /proc/mounts && grep " /t1 xfs.*sunit=256,swidth=1024" /proc/mounts`,
		"slow-member":          `mdadm --detail /dev/md/data | grep -E " 3 .* ${slow[0]}$"`,
		"degraded":             `grep "\[8/7\]" /proc/mdstat && ! mdadm --detail --test /dev/md/data`,
		"resyncing":            `grep "resync =" /proc/mdstat && grep resync /sys/block/md*/md/sync_action`,
		"su-sw-mismatch":       `grep "sunit=256,swidth=768" /proc/mounts`,
		"misaligned-partition": `grep -x 2049 /sys/block/nvme*/nvme*p1/start | wc -l | grep -x 4 && grep "raid0.*nvme" /proc/mdstat`,
		"unwritten-blocks":     `filefrag -v /data/unwritten.0 | grep unwritten && stat -c %b /data/sparse | grep -x 0`,
		"burst-runs-dry":       `grep " /data xfs" /proc/mounts`,
		"instance-cap":         `grep -A1 baseline: plimsoll.yaml | grep -w "iops: 800"`,
		"vm-burst-ends":        `grep -A3 instance: plimsoll.yaml | grep -w 256`,
		"double-mount":         `grep -E " /(data|wal) " /proc/mounts | cut -d" " -f1 | sort | uniq -c | grep " 2 "`,
		"volatile-cache":       `cat /sys/block/nvme*/queue/write_cache | sort | uniq -c | grep "8 write back"`,
		"nvme8-blank":          `grep -c vda layouts.yaml | grep -x 0 && test $(ls /dev/nvme*n1 | wc -l) = 8 && test -z "$(wipefs /dev/nvme*n1)"`,
	} {
		t.Run(name, func(t *testing.T) {
			g := labtest.Start(t, name)
			r, err := g.Bash(t.Context(), shows)
			if err != nil || r.Code != 0 {
				t.Errorf("%s: %v, exit status %d\n%s%s", shows, err, r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	all, err := lab.Presets()
	if err != nil || len(all) != 15 {
		t.Errorf("%d presets, %v: want 15, each of them above", len(all), err)
	}
}
