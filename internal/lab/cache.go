package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/sys"
)

// cacheDir is where images and templates are kept: $XDG_CACHE_HOME/plimsoll/lab.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("lab: %w", err)
	}
	dir := filepath.Join(base, "plimsoll", "lab")
	return dir, errors.Join(ownDir(filepath.Dir(dir)), ownDir(dir)) // what is in it is run
}

// fill makes a directory of the cache by calling build with a temporary name of it, unless it is
// there. It is marked as used, for prune.
func fill(dir string, build func(tmp string) error) error {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return err
	}
	err = build(tmp)
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	return nil
}

// Of images and templates, which differ with the kernel, QEMU and agent, the last few used are
// kept, for so long. A guest that runs from one that is removed keeps what it has mapped.
const (
	keepFor  = 3 * 24 * time.Hour
	keepMost = 3
)

// prune removes the others, and what a killed build left.
func prune(cache string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	used := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Now() // it has just gone
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return used(b).Compare(used(a)) })
	kept := map[string]int{}
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), "-")
		if !e.IsDir() || !slices.Contains([]string{"image", "template", "debian", "new"}, kind) {
			continue
		}
		if kept[kind]++; kept[kind] > keepMost || time.Since(used(e)) > keepFor {
			err = errors.Join(err, os.RemoveAll(filepath.Join(cache, e.Name())))
		}
	}
	return err
}

// lock takes an exclusive lock in a directory, waiting for it as long as ctx lasts. The kernel gives it
// up with the process.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := sys.OpenPath(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // the lock has a handle of its own
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		unlock, err := d.Lock("lock")
		if !errors.Is(err, sys.ErrLocked) {
			return unlock, err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}
