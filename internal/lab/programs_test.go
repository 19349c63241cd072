package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/sys"
)

// What comes into a guest for programs: postgresql is whole: in a root that holds nothing else but
// busybox, as in the guest, initdb makes a database and the server prints its settings.
func TestPostgresIsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no chroot")
	}
	tree, err := postgresTree(t.Context(), sys.Host())
	if err != nil {
		t.Skipf("NO POSTGRESQL: %v", err)
	}
	busybox := sys.Host().Program("busybox")
	if busybox == "" {
		t.Skip("NO BUSYBOX: install busybox-static")
	}
	dir := t.TempDir()
	name := filepath.Join(t.TempDir(), "programs.tar")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeTar(f, tree), f.Close()); err != nil {
		t.Fatal(err)
	}
	script := `set -e
cd $DIR && mkdir -p bin lib64 dev tmp etc usr/lib64 && cp $BUSYBOX bin/busybox && bin/busybox tar -x -f $TAR
rmdir lib64 && ln -s usr/lib64 lib64 && ln -s usr/lib lib && ln -s busybox bin/sh
echo postgres:x:26:26::/tmp:/bin/sh >etc/passwd && echo postgres:x:26: >etc/group
chmod 755 . && chmod 777 tmp && touch dev/null && mount --bind /dev/null dev/null && mkdir -p dev/shm && chmod 1777 dev/shm
exec env -i PATH=/bin:/usr/sbin:/usr/bin:$PG TZ=UTC LC_ALL=C HOME=/tmp chroot --userspec=26:26 . sh -c "initdb -D /tmp/data -A trust --no-locale -E UTF8 --no-sync && postgres -D /tmp/data -C data_checksums && pgbench --version"`
	bin := ""
	for n := range tree {
		if strings.HasSuffix(n, "/bin/initdb") {
			bin = "/" + filepath.Dir(n)
		}
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script)
	cmd.Env = append(os.Environ(), "DIR="+dir, "TAR="+name, "BUSYBOX=/"+busybox, "PG="+bin)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\noff\npgbench (PostgreSQL)") {
		t.Errorf("%v\n%s", err, out)
	}
	if info, err := os.Stat(name); err != nil || info.Size() > 128<<20 {
		t.Errorf("%d bytes, %v: want less than 128 MiB, since they are in the guest's memory", info.Size(), err)
	}
}

// Only what is known is asked for, and only of a small guest: a Debian has apt.
func TestProgramsOfASpec(t *testing.T) {
	const volume = "\nvolumes: [{name: data}]\n"
	if s, err := ParseSpec("lab.yaml", []byte("programs: postgresql"+volume)); err != nil || len(s.Programs) != 1 {
		t.Error(s, err)
	}
	for _, bad := range []string{"programs: mysql", "programs: postgresql\nsystem: debian"} {
		if _, err := ParseSpec("lab.yaml", []byte(bad+volume)); err == nil || !strings.Contains(err.Error(), "programs") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
