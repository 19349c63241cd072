package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

type workloadOptions struct {
	file     string
	Job      bool          `flag:"job"`
	Filename string        `flag:"filename"`
	Depth    int           `flag:"iodepth"`
	Latency  units.Latency `flag:"latency"`
	Runtime  time.Duration `flag:"runtime"`
	Size     units.Bytes   `flag:"size"`
	Ask      bool          `flag:"ask"`
	Format   string        `formats:"plain"`
}

// NewWorkload is the command plimsoll workload and the commands below it.
func NewWorkload(env *form.Env) *cobra.Command {
	var o workloadOptions
	cmd := form.Command(env, "workload", cobra.MaximumNArgs(1), &o, o.run)
	cmd.AddCommand(newWorkloadFromCmd(env), newWorkloadRecordCmd(env))
	return cmd
}

func (o *workloadOptions) run(_ context.Context, env *form.Env, args []string) error {
	o.file = strings.Join(args, "")
	switch {
	case o.Ask && o.file != "":
		return form.Usagef("--ask makes a demand; it takes no file")
	case o.Ask:
		text, err := workload.Ask(env.In, env.Err)
		if err != nil {
			return form.Usage(err)
		}
		_, err = io.WriteString(env.Out, text)
		return err
	case o.file == "":
		return form.Hint(form.Usagef("a demand file is missing"), "plimsoll workload --ask > app.yaml")
	}
	if o.Depth < 0 || o.Depth > 65536 {
		return form.Usagef("--iodepth %d: use 1 to 65536", o.Depth)
	}
	d, err := LoadDemand(o.file)
	if err != nil {
		return err
	}
	latency, assumed := o.Latency.Duration(), false
	if latency <= 0 {
		latency, assumed = workload.AssumedLatency, true
	}
	if o.Job {
		if strings.ContainsFunc(o.Filename, unicode.IsControl) {
			return form.Usagef("--filename %q: a job file cannot hold a control character", o.Filename)
		}
		j := workload.JobOptions{Depth: o.Depth, Latency: latency, Runtime: o.Runtime, Size: o.Size}
		j.Filename, j.Directory = placeOf(o.Filename)
		_, err = io.WriteString(env.Out, d.Job(j).Text())
		return err
	}
	return form.Render(env, o.Format, plans.Demand(d, latency, assumed))
}

// placeOf tells a directory from a device or a file.
func placeOf(path string) (file, directory string) {
	if sys.IsDir(path) {
		return "", path
	}
	return path, ""
}

// LoadDemand reads a demand file.
func LoadDemand(name string) (*workload.Demand, error) {
	data, err := sys.ReadFile(name, sys.ConfigLimit)
	if errors.Is(err, os.ErrNotExist) {
		return nil, form.Usagef("%s does not exist", name)
	}
	if err != nil {
		return nil, err
	}
	d, err := workload.Parse(name, data)
	if script.NamesJob(name) || err != nil && len(script.Parse(name, data, script.Options{}).Jobs) > 0 {
		d, err = ofJob(name)
	}
	if err != nil {
		return nil, form.Usage(err)
	}
	return d, nil
}

// ofJob is the demand of a job file's own rates.
func ofJob(name string) (*workload.Demand, error) {
	s, err := suite.Select([]string{name}, suite.Selection{})
	if err != nil {
		return nil, err
	}
	if len(s.Scenarios) != 1 {
		return nil, fmt.Errorf("%s: %d groups of jobs run one after the other; a demand has only one", name, len(s.Scenarios))
	}
	loads, err := s.Scenarios[0].Workloads()
	if err != nil {
		return nil, err
	}
	return advise.FromJob(demandName(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))), loads)
}
