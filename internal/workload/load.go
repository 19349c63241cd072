package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// Is says whether a YAML file describes a demand: it has the key workload or streams at its left
// margin.
func Is(data []byte) bool {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("workload:")) || bytes.HasPrefix(line, []byte("streams:")) {
			return true
		}
	}
	return false
}

var errJobFile = errors.New("this is a job file of fio, not a demand: plimsoll ceiling computes what it can reach, " +
	"and plimsoll workload --ask asks for a demand")

// Parse reads a demand file (docs/workload.md); name is the file's. An error is a yamlfile.Mistake
// with its place.
func Parse(name string, data []byte) (*Demand, error) {
	var y demandYAML
	if len(data) > mostBytes {
		return nil, &yamlfile.Mistake{
			File: name,
			Err:  fmt.Errorf("%d bytes are too many for a demand file: want at most %d", len(data), mostBytes),
		}
	}
	if err := yamlfile.Decode(data, &y); err != nil {
		if job, jobErr := fio.ParseJobFile(name, data, fio.ParseOptions{}); jobErr == nil && len(job.Sections) > 0 {
			err = errJobFile
		}
		return nil, yamlfile.Wrong(name, data, err)
	}
	d, err := y.demand(name)
	if err != nil {
		return nil, yamlfile.Wrong(name, data, err)
	}
	return d, nil
}

const (
	mostStreams = 64
	mostBytes   = 1 << 20
)

func (y *demandYAML) demand(name string) (d *Demand, err error) {
	d = &Demand{
		Name: y.Workload.text, About: y.About.text, Source: name, Role: topology.Role(y.Role.text), AtLeast: y.AtLeast,
	}
	d.Name = cmp.Or(d.Name, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	if !plainName(d.Name) {
		return nil, y.Workload.wrong("workload %.40q: want up to 64 letters, digits, hyphens and underscores", d.Name)
	}
	d.Role = cmp.Or(d.Role, topology.Data)
	if !slices.Contains(topology.Roles, d.Role) {
		return nil, y.Role.wrong("role %.40q: want data or wal", d.Role)
	}
	if y.Capacity.given() {
		if d.Capacity, err = sizeOf(y.Capacity, "capacity"); err != nil {
			return nil, err
		}
	}
	if err := y.Durability.into(d); err != nil {
		return nil, err
	}
	for i := range y.Streams {
		if err := y.Streams[i].into(d); err != nil {
			return nil, err
		}
	}
	if err := y.Commits.into(d); err != nil {
		return nil, err
	}
	switch n := len(d.Streams); {
	case n == 0:
		return nil, errors.New("a demand needs streams: name one with does, block and rate")
	case n > mostStreams:
		return nil, fmt.Errorf("%d streams: want at most %d", n, mostStreams)
	}
	return d, nil
}

func plainName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= 64 && s[0] != '-' && s[0] != '.' && strings.Trim(s, letters) == ""
}

func (y *durabilityYAML) into(d *Demand) error {
	if y == nil {
		return nil
	}
	if y.AFR.given() {
		share, err := percent(y.AFR, "afr")
		if err != nil {
			return err
		}
		if share <= 0 {
			return y.AFR.wrong("afr %.40q: want more than 0 %%: no storage never fails", y.AFR.text)
		}
		d.Durability.AFR = share
	}
	d.Durability.Survives = Survives(y.Survives.text)
	if s := d.Durability.Survives; s != "" && !slices.Contains([]Survives{NoLoss, LostVolume, LostInstance}, s) {
		return y.Survives.wrong("survives %.40q: want volume, instance or none", s)
	}
	return nil
}

// walBlock is a page of PostgreSQL's WAL: what a small commit writes.
const walBlock = 8 * units.KiB

func (y *commitsYAML) into(d *Demand) error {
	if y == nil {
		return nil
	}
	text, ok := strings.CutSuffix(strings.TrimSpace(y.Rate.text), "/s")
	n, err := units.ParseIOPS(text)
	if !y.Rate.given() || err != nil || !ok || n <= 0 {
		return y.Rate.wrong("commits: rate %.40q: want one such as 1000/s", y.Rate.text)
	}
	clients, err := count(y.Clients, "clients", 1)
	if err != nil {
		return err
	}
	d.Streams = append(d.Streams, CommitStream(n, clients))
	return nil
}

// CommitStream is the stream of a database's commits: each writes a page of the log and waits for
// it.
func CommitStream(rate units.IOPS, clients int) Stream {
	return Stream{
		Name: "commits", Blocks: []Block{{walBlock, 1}}, Threads: clients, Depth: 1, IOPS: rate,
		Rate: units.Rate(rate) * units.Rate(walBlock), Sync: Sync{"fdatasync", 1}, Commits: true,
	}
}
