package bench

import (
	"context"
	"errors"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
)

// ErrNoDevice is the error of a path below which no device is seen, so that it cannot be watched for
// long.
var ErrNoDevice = errors.New("there is no device to watch")

// WatchMinutes looks at a path again and again until o.For has passed or the context ends, and calls
// each after every minute and for the part of one at the end. Most looks read counters alone;
// processes are looked at in the first of each minute and in those that follow a slow one. What the
// volumes give is asked once. A step of the clock changes no minute.
func WatchMinutes(ctx context.Context, m *sys.Machine, o Watching, each func(live.Minute)) error {
	whole := o.For
	o.For = min(live.MomentSpan, whole)
	w, at := (*watching)(nil), time.Now()
	f, err := watch(ctx, m, o, func(begun *watching) { w = begun })
	if err != nil {
		return ended(ctx, err)
	}
	if w == nil {
		return ErrNoDevice
	}
	moments := []live.Moment{live.Look(f, at, true)}
	for n := 1; ctx.Err() == nil && whole-time.Since(at) >= leastMoment; n++ {
		if n%momentsAMinute == 0 && len(moments) > 0 {
			each(live.MinuteOf(moments))
			moments = nil
		}
		// Looks end at multiples of their span, so that what lies between them is in none twice.
		span := min(time.Duration(n+1)*live.MomentSpan, whole) - time.Since(at)
		if span < leastMoment {
			continue
		}
		start := time.Now()
		closely := len(moments) == 0 || moments[len(moments)-1].Slow > 0
		f, err := w.again(ctx, m, span, closely)
		if err != nil {
			if ctx.Err() == nil {
				return err
			}
			break
		}
		moments = append(moments, live.Look(f, start, closely))
	}
	if len(moments) > 0 {
		each(live.MinuteOf(moments))
	}
	return nil
}

const momentsAMinute = int(time.Minute / live.MomentSpan)

// leastMoment is the shortest look that is worth one.
const leastMoment = 500 * time.Millisecond

// ended is no error where the user ended the look.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// again looks once more at what was found before; closely looks at processes, too.
func (w *watching) again(ctx context.Context, m *sys.Machine, span time.Duration, closely bool) (*live.Facts, error) {
	f := *w.f
	next := *w
	next.f, f.Log = &f, nil
	groups := topology.ReadGroups(w.read, w.t.Numbers(w.target))
	ebs := next.counters()
	look := telemetry.WatchFor{Devices: w.target.Devices, Span: span, Counters: !closely, Quick: !closely}
	if closely {
		look.Uses = block.NewInUse(m.Reader(), w.stack).By
	}
	window, err := telemetry.Watch(ctx, m, look)
	if err != nil {
		return nil, err
	}
	f.Window, f.Groups = window, groups.Used(window.Span)
	if closely {
		next.space(m)
		next.kernelLog()
	}
	f.Layers = append([]live.Layer{}, f.Layers...)
	next.exceeded(ebs, next.counters())
	return &f, nil
}
