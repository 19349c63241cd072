// Package advise has the commands that work out what storage can carry and what to buy: advise,
// ceiling and catalog.
package advise

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

type adviseOptions struct {
	file  string
	ofRun *job.RunDemand // where the file is a run
	// A series in place of a demand.
	Series   []string        `flag:"series"`
	log      job.FromOptions // how its files are read
	observed *advise.Series
	given    func(flag string) bool // says whether a flag was given
	// A demand by flags.
	Iops       units.IOPS    `flag:"iops"`
	Mix        string        `flag:"mix"`
	Block      units.Bytes   `flag:"block"`
	Capacity   units.Bytes   `flag:"capacity"`
	Latency    units.Latency `flag:"latency"`
	Synced     units.Latency `flag:"sync-latency"`
	Commits    units.IOPS    `flag:"sync-commits"`
	Clients    int           `flag:"clients"`
	Afr        string        `flag:"afr"`
	Region     string        `flag:"region"`
	Prices     string        `flag:"prices"`
	Headroom   string        `flag:"headroom"`
	Volumes    []string      `flag:"volumes"`
	Level      string        `flag:"level"`
	Chunk      units.Bytes   `flag:"chunk"`
	survives   string
	All        bool        `flag:"all"`
	Burst      bool        `flag:"burst-ok"`
	Older      bool        `flag:"older"`
	Cloud      string      `flag:"cloud"`
	Format     string      `formats:"plain"`
	Yaml       int         `flag:"yaml"`
	Memory     units.Bytes `flag:"memory"`
	Vcpus      int         `flag:"vcpus"`
	MaxVolumes int         `flag:"max-volumes"`
	Instance   string      `flag:"instance"`
	arch       string
	Families   []string `flag:"family"`
	Types      []string `flag:"types"`
	Why        []string `flag:"why"`
}

// NewAdvise is the command plimsoll advise.
func NewAdvise(env *form.Env) *cobra.Command {
	o := adviseOptions{
		Mix: "100r", Block: 8 * units.KiB, Clients: 1, log: job.FromOptions{Copies: 1}, Headroom: "20%", Level: "raid0",
		MaxVolumes: advise.DefaultMaxVolumes,
	}
	cmd := form.Command(env, "advise", cobra.MaximumNArgs(1), &o, o.run)
	f := cmd.Flags()
	o.given = f.Changed
	form.Bind(f, "advise", "device", &o.log.Devices, "copies", &o.log.Copies, "every", &o.log.Every)
	f.Lookup("types").Usage += " (default " + strings.Join(cloud.AWS().Terms().Types, ",") + ")"
	form.AddChoice(cmd, &o.survives, "survives", "data must survive the loss of this `PART`",
		[]workload.Survives{workload.LostVolume, workload.LostInstance, workload.NoLoss})
	form.AddChoice(cmd, &o.arch, "arch", "`ARCHITECTURE` of the instance", []string{"arm64", "x86_64"})
	cmd.Annotations = map[string]string{form.ArgumentAnnotation: "a demand file or a run"}
	return cmd
}

func (o *adviseOptions) run(_ context.Context, env *form.Env, args []string) error {
	o.file = strings.Join(args, "")
	if err := form.Clouds(env); err != nil {
		return err
	}
	if err := o.foreign(); err != nil {
		return err
	}
	r, err := o.request(env)
	if err != nil {
		return err
	}
	a, err := advise.Advise(*r)
	if errors.Is(err, advise.ErrCapacity) {
		return form.Hint(form.Usage(err), "add --capacity, such as --capacity 500GiB, or capacity: to the demand file")
	}
	if err != nil {
		return form.Usage(err)
	}
	a.Assumed = append(o.assumed(a), a.Assumed...)
	saved, err := gp3Instead(*r, a)
	if err != nil {
		return err
	}
	a.Notes = append(saved, a.Notes...)
	if o.Yaml > 0 {
		if o.Yaml > len(a.Rows) {
			return form.Usagef("--yaml %d: there are %s", o.Yaml, text.Plural(len(a.Rows), "row"))
		}
		_, err := io.WriteString(env.Out, plans.AdviceYAML(a, &a.Rows[o.Yaml-1]))
		return err
	}
	return form.Render(env, o.Format, plans.Advice(a, o.All))
}

// foreign refuses flags that the catalogue lacks something for, on the cloud that is looked at. What was measured
// on the one type that is named is as good as what it lacks.
func (o *adviseOptions) foreign() error {
	p := cloud.Named(cmp.Or(o.Cloud, "aws"))
	if p == nil {
		var names []string
		for _, known := range cloud.Providers() {
			names = append(names, known.Terms().Short)
		}
		return form.Usagef("--cloud %.40q: want %s", o.Cloud, strings.Join(names, ", "))
	}
	at := p.Terms()
	measured := o.Synced > 0 && (len(o.Types) == 1 || len(o.Volumes) == 1)
	for _, flag := range slices.Sorted(maps.Keys(at.Lacks)) {
		if o.given(flag) && (flag != "sync-commits" || !measured) {
			return form.Usagef("--%s with --cloud %s: %s", flag, o.Cloud, at.Lacks[flag])
		}
	}
	return nil
}

// gp3Instead says what the kept gp2 volumes cost as gp3.
func gp3Instead(r advise.Request, a *advise.Advice) ([]string, error) {
	if r.Keep == nil || r.Keep.Spec.Type != cloud.GP2 || a.Owned == nil {
		return nil, nil
	}
	was, n := *a.Owned, r.Keep.N
	instead, err := advise.Instead(r, cloud.GP3, was)
	if err != nil || instead == "" {
		return nil, err
	}
	return []string{fmt.Sprintf("%d x gp2 cost %v a month; %s", n, was.VolumesMonth, instead)}, nil
}

func (o *adviseOptions) request(env *form.Env) (*advise.Request, error) {
	r := &advise.Request{
		Now:        env.Now(),
		BurstOK:    o.Burst,
		VCPUs:      o.Vcpus,
		Memory:     o.Memory,
		Arch:       o.arch,
		Families:   o.Families,
		Older:      o.Older,
		Why:        o.Why,
		Instance:   o.Instance,
		Types:      o.Types,
		MaxVolumes: o.MaxVolumes,
		Synced:     o.Synced.Duration(),
	}
	var err error
	if o.MaxVolumes > advise.MostVolumes {
		return nil, form.Usagef("--max-volumes %d: use %d or fewer", o.MaxVolumes, advise.MostVolumes)
	}
	if r.Demand, err = o.demand(); err != nil {
		return nil, err
	}
	r.Series = o.observed
	if r.Headroom, err = share(o.Headroom, "headroom", 1000); err != nil {
		return nil, err
	}
	for _, spec := range o.Volumes {
		if r.Keep, err = o.keep(spec, r.Demand.Capacity); err != nil {
			return nil, form.Usage(err)
		}
		r.Beside = append(r.Beside, *r.Keep)
	}
	if len(o.Volumes) < 2 {
		r.Beside = nil
	}
	if o.Volumes == nil && o.ofRun != nil {
		r.Keep, r.Shown = o.ofRun.Owned()
	}
	if r.Cloud = cloud.Named(o.Cloud); r.Cloud == nil && r.Keep != nil { // that of what is kept
		t, _ := cloud.TypeNamed(r.Keep.Spec.Type)
		r.Cloud = cloud.Named(t.Provider)
	}
	if r.Beside != nil {
		r.Keep = nil
	}
	r.Prices, err = o.priceList(cmp.Or(r.Cloud, cloud.AWS()))
	return r, err
}

// share reads 20% as 0.2.
func share(s, flag string, most float64) (float64, error) {
	v, err := units.ParsePercent(s)
	if err != nil || v > most/100 {
		return 0, form.Usagef("--%s %.40q: want a share such as 20%%", flag, s)
	}
	return v, nil
}

// priceList is the catalogue's, or a file's over it.
func (o adviseOptions) priceList(at *cloud.Provider) (*cloud.Prices, error) {
	p := at.Prices()
	if o.Prices != "" {
		f, err := sys.OpenRegular(o.Prices)
		if err != nil {
			return nil, form.Usage(err)
		}
		defer func() { _ = f.Close() }() // only read
		own, err := cloud.ReadPrices(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			return nil, form.Usagef("%s: %w", o.Prices, err)
		}
		both := *p
		if err := both.Merge(own); err != nil {
			return nil, form.Usagef("%s: %w", o.Prices, err)
		}
		p = &both
	}
	if o.Region != "" && o.Region != p.Region {
		return nil, form.Usagef("--region %.40q: the available prices are for %s; supply those of another region with "+
			"--prices", o.Region, p.Region)
	}
	return p, nil
}

// chunkText is --chunk as a declaration has it.
func (o adviseOptions) chunkText() string {
	if o.Chunk == 0 {
		return ""
	}
	return o.Chunk.Arg()
}

// keep is a layout of --volumes, for data of a capacity.
func (o adviseOptions) keep(spec string, capacity units.Bytes) (*advise.Layout, error) {
	d, err := topology.FromFlags(spec, o.Level, o.chunkText(), "")
	if few, ok := errors.AsType[*topology.TooFew](err); ok && few.Level == topology.RAID0 { // one volume
		d, err = topology.FromFlags(spec, "", "", "")
	}
	if err != nil {
		return nil, err
	}
	t, err := topology.FromDeclaration(d)
	if err != nil {
		return nil, err
	}
	l, err := advise.LayoutOf(&t.Arrays[0], capacity)
	if err != nil {
		return nil, fmt.Errorf("--volumes %.60q: %w", spec, err)
	}
	return l, nil
}
