package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
)

// place is a role's path with what the run knows of it.
type place struct {
	*permit.Place
	written bool  // its file was written from end to end
	broken  error // why nothing can be measured here; its scenarios are invalid
}

// prefill writes a place's file. That it cannot be written does not end the run: the scenarios of
// the place are invalid and show why.
func (r *runner) prefill(ctx context.Context, p *place) error {
	if memoryOnly(p.FSType) {
		p.broken = fmt.Errorf("%s is on %s, which keeps files in memory: no device would be measured", p.Path, p.FSType)
		return nil
	}
	err := p.prefill(ctx, r.m, r.stall(), r.emit)
	if alive, ok := errors.AsType[*sys.Alive](err); ok {
		r.alive = alive
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.broken = fmt.Errorf("the file could not be prefilled: %s", firstLine(err))
	}
	return nil
}

func memoryOnly(fsType string) bool { return fsType == "tmpfs" || fsType == "ramfs" }

// prefill writes the place's files whole. fio may stand still for stall.
func (p *place) prefill(ctx context.Context, m *sys.Machine, stall time.Duration, emit func(Event)) error {
	if p.Total() == 0 || p.Prefilled() {
		return nil
	}
	jobs, err := p.Prefills()
	for _, job := range jobs {
		err = errors.Join(err, p.write(ctx, m, job, stall, emit))
	}
	if err == nil {
		err = p.CheckPrefilled()
	}
	p.written = err == nil
	return err
}

// plainly is an error with the names that the user knows.
type plainly struct {
	error
	says string
}

func (p *plainly) Error() string { return p.says }
func (p *plainly) Unwrap() error { return p.error }

// write carries out one job of the prefill.
func (p *place) write(
	ctx context.Context,
	m *sys.Machine,
	job permit.Prefill,
	stall time.Duration,
	emit func(Event),
) error {
	file, free, err := sys.MemFile("prefill.fio", job.Job.Text())
	if err != nil {
		return err
	}
	defer free()
	report := Laying{Role: p.Role, File: job.Shown, Files: job.Files, Size: job.Size}
	emit(report)
	err = running.Run(ctx, m, running.Invocation{
		JobFile: file, Raw: io.Discard, Read: output.ParseJSON, Text: func(string) {}, Stall: stall,
		Doc: func(o *fio.Output) {
			if len(o.Jobs) > 0 {
				report.Written = o.Jobs[0].Write.Bytes
				emit(report)
			}
		},
	})
	if err != nil {
		return &plainly{err, job.Plain(err.Error())}
	}
	report.Written, report.Done = job.Size, true
	emit(report)
	return nil
}
