package provision

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// Volumes of EC2's types that nothing names are ordered, with what their type has a choice of and
// the file states.
func TestOrders(t *testing.T) {
	for volumes, want := range map[string]string{
		"4 x gp3 3TiB": "4 × gp3 --size 3072",
		"[{type: gp3, size: 30GiB, iops: 4000, throughput: 250MiB/s, count: 7}, {type: gp3, size: 30GiB, iops: 4000, throughput: 250MiB/s, id: vol-0a1b2c3d4e5f60009}]": "7 × gp3 --size 30 --iops 4000 --throughput 250",
		"{count: 2, type: io2, size: 100GiB, iops: 50001}": "2 × io2 --size 100 --iops 50001",
		"2 x gp2 3000GB": "2 × gp2 --size 2794",
		"2 x st1 500GiB": "2 × st1 --size 500",
		"[{type: gp3, size: 50GiB, count: 3}, {type: gp3, size: 60GiB, count: 1}]": "3 × gp3 --size 50; 1 × gp3 --size 60",
		"{count: 2, type: gp3, size: 3TiB, iops: 80000, throughput: 312.5MB/s}":    "2 × gp3 --size 3072 --iops 80000 --throughput 299",
		"2 x gp3":       "2 × gp3 --size GIB",
		"2 x nvme 1TiB": "",
		"2 x 50GiB":     "",
		"{count: 2, type: azure-ultra, size: 64GiB, iops: 1000, throughput: 100MB/s}": "",
		"[{serial: S1, type: gp3}, {path: /dev/disk/by-id/x, type: gp3}]":             "",
	} {
		decl, err := topology.LoadDeclaration("plimsoll.yaml", []byte("arrays:\n  - {name: t, level: raid0, volumes: "+volumes+", filesystem: {type: xfs, mount: /t}}\n"))
		if err != nil {
			t.Fatalf("%s: %v", volumes, err)
		}
		plan, err := Here(sys.Host(), nil).Imagine(decl)
		if err != nil {
			t.Fatalf("%s: %v", volumes, err)
		}
		var got []string
		for _, o := range plan.Orders {
			command := strings.Join(o.Create, " ")
			got = append(got, fmt.Sprint(o.Count, " × ", strings.TrimPrefix(command, "aws ec2 create-volume --availability-zone ZONE --volume-type ")))
		}
		if said := strings.Join(got, "; "); said != want {
			t.Errorf("%s: %s\nwant %s", volumes, said, want)
		}
	}
}
