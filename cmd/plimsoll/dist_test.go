package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scripts/dist.sh takes away what an earlier one wrote into the directory, by the list that it left, and nothing else
// of what a user may have there or have named by mistake.
func TestDistRemovesOnlyWhatItWrote(t *testing.T) {
	script, err := os.ReadFile("../../scripts/dist.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(script), "if [ -f \"$out/SHA256SUMS\" ]")
	block, rest, ended := strings.Cut(rest, "\nfi\n")
	if !found || !ended || strings.Contains(strings.ReplaceAll(rest, `rm -rf "$stage"`, ""), "rm -") {
		t.Fatal("scripts/dist.sh removes something in another way")
	}
	for _, listed := range []bool{false, true} {
		base := t.TempDir()
		out := filepath.Join(base, "out")
		sum := strings.Repeat("0", 64) + "  "
		for name, text := range map[string]string{
			"out/plimsoll_1.0_amd64.deb": "", "out/install.sh": "", "out/mine.txt": "", "out/plimsoll_unlisted": "",
			"victim": "", "out/notes.tar": "",
			"out/SHA256SUMS": sum + "plimsoll_1.0_amd64.deb\n" + sum + "install.sh\n" + sum + "../victim\n" + sum + "notes.tar\n" + sum + "plimsoll_/../../victim\n",
		} {
			if name == "out/SHA256SUMS" && !listed {
				continue
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", "-c", "set -euo pipefail; out=$1; if [ -f \"$out/SHA256SUMS\" ]"+block+"\nfi",
			"dist", out)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for name, stays := range map[string]bool{
			"out/plimsoll_1.0_amd64.deb": !listed, "out/install.sh": !listed, "out/mine.txt": true,
			"out/plimsoll_unlisted": true, "victim": true, "out/notes.tar": true,
		} {
			if _, err := os.Stat(filepath.Join(base, name)); (err == nil) != stays {
				t.Errorf("listed %v: %s: %v", listed, name, err)
			}
		}
	}
}
