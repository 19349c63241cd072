package block

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Dataset is how a mounted dataset of ZFS is set (zfsprops(7)).
type Dataset struct {
	Sync    string      `json:"sync"`    // standard, always or disabled
	LogBias string      `json:"logbias"` // latency or throughput
	Record  units.Bytes `json:"record"`  // recordsize: the largest block of a file
	Pool    string      `json:"pool"`
	Shift   int         `json:"ashift"` // of the pool: 12 is sectors of 4 KiB; 0 where ZFS chose by each drive
}

// datasetName is a dataset's, which zfs cannot take for an option.
var datasetName = regexp.MustCompile(`^[A-Za-z0-9][\w.:-]*(?:/[\w.: -]+)*$`)

// ReadDataset asks ZFS about the dataset that is mounted; nothing on other filesystems, or where zfs does not answer.
func (mt *Mount) ReadDataset(ctx context.Context, m *sys.Machine) {
	if mt.FS != "zfs" || m.Run == nil || !datasetName.MatchString(mt.Source) {
		return
	}
	out, err := m.Output(ctx, "zfs", "get", "-Hp", "-o", "property,value", "sync,logbias,recordsize", mt.Source)
	if err != nil {
		return
	}
	d := Dataset{}
	d.Pool, _, _ = strings.Cut(mt.Source, "/")
	props := properties(out)
	record, _ := strconv.ParseUint(props["recordsize"], 10, 32)
	d.Sync, d.LogBias, d.Record = props["sync"], props["logbias"], units.Bytes(record)
	if out, err := m.Output(ctx, "zpool", "get", "-Hp", "-o", "property,value", "ashift", d.Pool); err == nil {
		d.Shift, _ = strconv.Atoi(properties(out)["ashift"])
	}
	mt.ZFS = &d
}

// properties reads lines of a name, a tab and a value.
func properties(out string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all[name] = value
		}
	}
	return all
}
