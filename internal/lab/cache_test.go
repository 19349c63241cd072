package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestPrune(t *testing.T) {
	cache := t.TempDir()
	for name, age := range map[string]time.Duration{
		"image-a": 0, "image-b": time.Hour, "image-c": 2 * time.Hour, "image-d": 3 * time.Hour,
		"template-a": 0, "template-b": 100 * time.Hour, "debian-a": time.Hour, "debian-b": 100 * time.Hour, "new-1": 100 * time.Hour, "other": 100 * time.Hour,
	} {
		dir := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(cache); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"debian-a", "image-a", "image-b", "image-c", "other", "template-a"}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestLock(t *testing.T) {
	name := t.TempDir()
	unlock, err := lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	held := fmt.Sprintf("%s/lock: locked by %q (process %d): context deadline exceeded", name, "lab.test", os.Getpid())
	if _, err := lock(short, name); err == nil || err.Error() != held {
		t.Errorf("a lock was taken twice, or its holder is not named: %v", err)
	}
	unlock()
	again, err := lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
