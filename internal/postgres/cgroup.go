package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// confine puts a process, and what it will start, into a control group of its own with so much
// memory, the page cache of its files included. It returns the group's directory.
func confine(pid int, memory units.Bytes) (string, error) {
	if dir := "/sys/fs/cgroup"; hasMemory(dir + "/cgroup.subtree_control") {
		return group(dir, pid, map[string]string{"memory.max": fmt.Sprint(uint64(memory)), "memory.swap.max": "0"})
	}
	if dir := "/sys/fs/cgroup/memory"; sys.Exists(dir + "/memory.limit_in_bytes") {
		return group(dir, pid, map[string]string{"memory.limit_in_bytes": fmt.Sprint(uint64(memory))})
	}
	return "", fmt.Errorf("--pg-memory needs a control group with a memory limit, and none can be made below " +
		"/sys/fs/cgroup: run as root on the host itself, or choose a larger --pg-scale")
}

func hasMemory(file string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(data))+" ", " memory ")
}

func group(parent string, pid int, limits map[string]string) (string, error) {
	dir := filepath.Join(parent, permit.CgroupPrefix+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("--pg-memory: %w", err)
	}
	for name, value := range limits {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil &&
			name != "memory.swap.max" { // no swap: no such file
			return dir, fmt.Errorf("--pg-memory: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		return dir, fmt.Errorf("--pg-memory: %w", err)
	}
	return dir, nil
}
