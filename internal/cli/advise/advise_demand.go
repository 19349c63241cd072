package advise

import (
	"fmt"
	"regexp"
	"strconv"

	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// demand is that of the file or the run with what flags override, or of the flags.
func (o *adviseOptions) demand() (*workload.Demand, error) {
	d, err := o.described()
	if err != nil {
		return nil, err
	}
	if o.Capacity > 0 {
		d.Capacity = o.Capacity
	}
	if o.survives != "" {
		d.Durability.Survives = workload.Survives(o.survives)
	}
	if o.Afr != "" {
		if d.Durability.AFR, err = share(o.Afr, "afr", 100); err != nil {
			return nil, err
		}
	}
	if o.Latency > 0 {
		for i := range d.Streams {
			if !d.Streams[i].Commits {
				d.Streams[i].Latency.Percentiles = []workload.Percentile{{P: 99, Limit: o.Latency.Duration()}}
			}
		}
	}
	return d, o.setClients(d)
}

// setClients gives the demand's commits the number of clients that is named.
func (o adviseOptions) setClients(d *workload.Demand) error {
	if !o.given("clients") {
		return nil
	}
	if o.Clients < 1 {
		return form.Usagef("--clients %d: use 1 or more", o.Clients)
	}
	commits := false
	for i := range d.Streams {
		if s := &d.Streams[i]; s.Commits {
			s.Threads, commits = o.Clients, true
		}
	}
	if !commits {
		return form.Usagef("--clients: the demand has no commits:; for a stream, use threads:")
	}
	return nil
}

// described is the demand of the file, of the run, or of --iops and --sync-commits.
func (o *adviseOptions) described() (*workload.Demand, error) {
	if len(o.Series) > 0 {
		return o.recorded()
	}
	if o.file != "" {
		if run, ok, err := job.DemandOfRun([]string{o.file}); ok || err != nil {
			if o.ofRun = run; err != nil {
				return nil, err
			}
			return run.Demand, nil
		}
		return job.LoadDemand(o.file)
	}
	d := &workload.Demand{Name: "the demand", Source: "flags", Role: topology.Data}
	if o.Iops > 0 {
		s, err := o.stream()
		if err != nil {
			return nil, err
		}
		d.Streams = append(d.Streams, s)
	}
	if o.Commits > 0 {
		d.Streams = append(d.Streams, workload.CommitStream(o.Commits, max(o.Clients, 1)))
	}
	if len(d.Streams) == 0 {
		return nil, form.Hint(form.Usagef("a demand is missing: name its file, or give --iops or --sync-commits"),
			"plimsoll workload --ask > app.yaml")
	}
	return d, nil
}

// recorded reads the series, all devices added up, and is what it asks for at its most.
func (o *adviseOptions) recorded() (*workload.Demand, error) {
	o.log.Files = o.Series
	all, err := o.log.Read()
	if err != nil {
		return nil, err
	}
	if len(all) > 1 || o.log.Copies > 1 {
		one, err := workload.Gather("data", o.log.Copies, all)
		if err != nil {
			return nil, form.Hint(form.Usage(err), "name one of them with --device")
		}
		all = []workload.Observed{one}
	}
	o.observed = &advise.Series{Observed: all[0]}
	d, err := o.observed.Demand()
	if err != nil {
		return nil, form.Usage(err)
	}
	return d, nil
}

var mixForm = regexp.MustCompile(`^(\d{1,3})r$`)

// stream is that of --iops, --mix and --block.
func (o adviseOptions) stream() (s workload.Stream, err error) {
	m := mixForm.FindStringSubmatch(o.Mix)
	if m == nil {
		return s, form.Usagef("--mix %.40q: want the share of reads, such as 70r", o.Mix)
	}
	reads, err := strconv.ParseFloat(m[1], 64)
	if err != nil || reads > 100 || o.Block == 0 || o.Block > workload.MaxBlock {
		return s, form.Usagef("--mix is at most 100r, and --block more than 0 and at most %s", workload.MaxBlock)
	}
	return workload.Stream{
		Name: "all", Random: true, ReadShare: reads / 100, Blocks: []workload.Block{{Size: o.Block, Share: 1}},
		IOPS: o.Iops, Rate: units.Rate(float64(o.Iops) * float64(o.Block)),
	}, nil
}

// assumed is what was taken for granted for want of a flag, first what decides most.
func (o adviseOptions) assumed(a *advise.Advice) []string {
	var all []string
	if o.ofRun != nil || o.observed != nil {
		all = append(all, a.Demand.Notes...)
	}
	if o.Commits > 0 && !o.given("clients") {
		all = append(all, "1 client is assumed to commit at a time: --clients N says how many do")
	}
	if o.Vcpus == 0 && o.Memory == 0 && o.Instance == "" && len(a.Rows) > 0 {
		vcpus, memory := a.Rows[0].Instance.VCPUs, a.Rows[0].Instance.Memory
		for _, c := range a.Rows {
			vcpus, memory = min(vcpus, c.Instance.VCPUs), min(memory, c.Instance.Memory)
		}
		all = append(all, fmt.Sprintf("the instances are sized for the storage alone, down to %d vCPUs and %v: "+
			"state what the application needs with --vcpus and --memory", vcpus, memory))
	}
	return all
}
