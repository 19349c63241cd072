package fleet

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/klauspost/compress/zstd"

	"plimsoll/internal/bundle"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/verdict"
)

// Names that are options, commands or nothing are refused before anything is started.
func TestHostNames(t *testing.T) {
	none := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	for _, bad := range []string{
		"a;touch /tmp/x", "-oProxyCommand=touch${IFS}x", "--help", "$(id)", "`id`", "a|b", "a&b", "a>b", "a'b", "a\"b", "a\\b", "ä", "a\x1b[2J", "a*b", "", ",", "db1,db1", "a!b",
		"db[3-1]", "db[1-999999]", "db[1-2][1-2]",
	} {
		if hosts, err := ParseHosts(bad, none); err == nil {
			t.Errorf("%q gives %q", bad, hosts)
		}
	}
	for spec, want := range map[string]string{
		"db1": "db1", "a,b c": "a b c", "db[1-3].x": "db1.x db2.x db3.x", "n[08-10]": "n08 n09 n10", "root@10.0.0.1": "root@10.0.0.1", "[fe80::1%eth0]": "[fe80::1%eth0]",
	} {
		hosts, err := ParseHosts(spec, none)
		if got := strings.Join(hosts, " "); err != nil || got != want {
			t.Errorf("%q gives %q, %v", spec, got, err)
		}
	}
	file := func(string) ([]byte, error) { return []byte("db1 # first\n\ndb2\n-oProxyCommand=x\n"), nil }
	if hosts, err := ParseHosts("@list", file); err == nil {
		t.Errorf("a file's option is taken for a host: %q", hosts)
	}
}

func TestEngines(t *testing.T) {
	for _, bad := range []string{"", "sh", "docker exec {host}", "docker exec COMMAND", "{host} COMMAND", "ssh {host} COMMAND x", "ssh COMMAND {host} COMMAND"} {
		if _, err := ParseEngine(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for via, want := range map[string]string{
		"ssh":                             "ssh|-T|-o|BatchMode=yes|-o|ServerAliveInterval=5|-o|ServerAliveCountMax=3|--|db1|sh -c 'a  b'",
		"srun":                            "srun|-N1|-n1|-w|db1|--export=ALL|sh|-c|a  b",
		"docker exec -i c-{host} COMMAND": "docker|exec|-i|c-db1|sh|-c|a  b",
	} {
		e, err := ParseEngine(via)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.argv("db1", "sh", "-c", "a  b"), "|"); got != want {
			t.Errorf("%s: %s", via, got)
		}
	}
}

// entry is a member of an archive that no bundle holds.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg || h.Typeflag == 0 {
			if _, err := w.Write(make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	many := make([]tar.Header, mostFiles+1)
	for i := range many {
		many[i] = tar.Header{Name: fmt.Sprintf("f%d", i)}
	}
	for name, headers := range map[string][]tar.Header{
		"a way out":        {{Name: "../x", Size: 1}},
		"a hidden way out": {{Name: "a/../../x", Size: 1}},
		"absolute":         {{Name: "/tmp/plimsoll-x", Size: 1}},
		"a link":           {{Name: "run.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow"}},
		"a hard link":      {{Name: "run.json", Typeflag: tar.TypeLink, Linkname: "/etc/shadow"}},
		"a device":         {{Name: "sda", Typeflag: tar.TypeBlock, Devmajor: 8}},
		"a FIFO":           {{Name: "fifo", Typeflag: tar.TypeFifo}},
		"a directory":      {{Name: "d/", Typeflag: tar.TypeDir}},
		"a bomb":           {{Name: "a", Size: 60 << 20}, {Name: "b", Size: 60 << 20}},
		"a second name":    {{Name: "run.json", Size: 1}, {Name: "run.json", Size: 1}},
		"a second fleet":   {{Name: "fleet.json", Size: 1}},
		"a deep one":       {{Name: "a/b/c/d/e/f", Size: 1}},
		"too many":         many,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			to := filepath.Join(root, "hosts", "db1")
			err := unpack(bytes.NewReader(archive(t, headers...)), to, 100<<20)
			if err == nil || !strings.Contains(err.Error(), "its bundle") {
				t.Errorf("unpacked: %v", err)
			}
			err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.Type().IsRegular() && !d.IsDir() || !strings.HasPrefix(path+"/", root) {
					t.Errorf("%s was made", path)
				}
				return err
			})
			if entries, _ := os.ReadDir(root); err != nil || len(entries) > 1 {
				t.Errorf("%v %v", entries, err)
			}
		})
	}
	if err := unpack(bytes.NewReader(archive(t, tar.Header{Name: "run.json", Size: 5}, tar.Header{Name: "01-a/fio.jsonl", Size: 7})), filepath.Join(t.TempDir(), "ok"), 12); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// A fleet run that came from elsewhere may hold a link where the hosts' bundles go.
func TestBundlesFollowNoLink(t *testing.T) {
	for _, link := range []string{"hosts", "hosts/db1", "hosts/.db1.new"} {
		t.Run(link, func(t *testing.T) {
			base := t.TempDir()
			victim := filepath.Join(base, "victim", "db1", "thesis.tex")
			at := filepath.Join(base, "run", link)
			file, err := os.Create(filepath.Join(base, "sent"))
			if err == nil {
				_, err = file.Write(archive(t, tar.Header{Name: "run.json", Size: 5}))
			}
			_, sought := file.Seek(0, io.SeekStart)
			if err := errors.Join(err, sought, os.MkdirAll(filepath.Dir(victim), 0o755), os.WriteFile(victim, nil, 0o644),
				os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(filepath.Join(base, "victim"), at)); err != nil {
				t.Fatal(err)
			}
			dir, err := sys.OpenOwnDir(filepath.Join(base, "run"))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close() //nolint:errcheck // only a handle
			h := &host{FleetHost: bundle.FleetHost{Name: "db1", Dir: "hosts/db1"}, got: file}
			err = (&coordinator{dir: dir}).unpack(h)
			if refused := link == "hosts"; refused != (err != nil) ||
				refused && !strings.Contains(err.Error(), "hosts is a link") {
				t.Errorf("unpack: %v", err)
			}
			if entries, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(entries) != 1 ||
				entries[0].Name() != "thesis.tex" {
				t.Errorf("the victim: %v, %v", entries, err)
			}
		})
	}
}

// The pages of a bundle are its host's: what is opened in the operator's browser is written here.
func TestPagesAreLeftOut(t *testing.T) {
	pages := []string{"report.html", "report.md", "01-a/Report.HTML", "x.svg", "x.xhtml", "REPORT.HTML\n", "x.svg "}
	others := []string{"run.json", "01-a/fio.jsonl", "01-a/html", "01-a/md.log", "SHA256SUMS"}
	from, to := t.TempDir(), t.TempDir()
	var headers []tar.Header
	for _, name := range slices.Concat(pages, others) {
		headers = append(headers, tar.Header{Name: name, Size: 3})
		at := filepath.Join(from, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("abc"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for how, err := range map[string]error{
		"sent":   unpack(bytes.NewReader(archive(t, headers...)), filepath.Join(to, "sent"), 100),
		"copied": copyBundle(filepath.Join(to, "copied"), from),
	} {
		if err != nil {
			t.Error(err)
		}
		for _, name := range slices.Concat(pages, others) {
			if want := slices.Contains(others, name); sys.Exists(filepath.Join(to, how, name)) != want {
				t.Errorf("%s: %s is there: %v", how, name, !want)
			}
		}
	}
}

// A line without an end costs no more memory than the longest that is allowed.
func TestEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := newLineReader(&endless{left: 1 << 30})
	var m message
	if err := lines.next(&m); err == nil || !strings.Contains(err.Error(), "1024 KiB") {
		t.Errorf("read: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.left -= len(p)
	return len(p), nil
}

// The fleet run is written where it was begun, whatever its name leads to meanwhile: here a host
// puts a link in its place, as another user may in a directory that both can write to.
func TestFleetRunStaysWhereItBegan(t *testing.T) {
	victim := t.TempDir()
	precious := filepath.Join(victim, "hosts", "swap", "run.json")
	err := errors.Join(os.MkdirAll(filepath.Dir(precious), 0o755), os.WriteFile(precious, []byte("precious"), 0o600),
		os.WriteFile(filepath.Join(victim, "fleet.json"), []byte("precious"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	raw := packed(t, map[string][]byte{"run.json": []byte("{}")})
	sum := sha256.Sum256(raw)
	_, dir := runVia(t, map[string]string{
		"swap": pongs + `cd "${0%/*}/runs" && d=$(echo *-fleet) && mv "$d" away && ln -s ` + victim + ` "$d"
echo '{"event":"started","dir":"x"}'; echo '{"event":"finished"}'; read -r bundle; echo '{"data":"` +
			base64.StdEncoding.EncodeToString(raw) + `"}'; echo '{"sha256":"` + hex.EncodeToString(sum[:]) + `"}'; read -r end`,
	})
	if info, err := os.Lstat(dir); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatalf("%v %v: nothing was swapped", info, err)
	}
	for _, name := range []string{precious, filepath.Join(victim, "fleet.json")} {
		if data, err := os.ReadFile(name); string(data) != "precious" || err != nil {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "away", "hosts", "swap", "run.json")); err != nil {
		t.Error(err)
	}
}

// runVia runs a fleet whose hosts are shell scripts, one a host, that send what they like.
func runVia(t *testing.T, scripts map[string]string) (*bundle.Fleet, string) {
	t.Helper()
	dir := t.TempDir()
	var hosts []string
	for name, script := range scripts {
		hosts = append(hosts, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, err := ParseEngine("sh " + dir + "/{host} COMMAND")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	held, f, err := Run{
		Hosts: hosts, Engine: e, Remote: "plimsoll", Order: together, Copy: "never", Out: filepath.Join(dir, "runs"), Version: "test",
		Tool: "plimsoll test", What: "hostile", Now: time.Now, Note: func(host, line string) { t.Log(host, line) },
	}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	return f, held.Name()
}

const hello = `{"plimsoll":1,"version":"test","host":"x","fio":"fio-3.33","mono":1}`

// pongs answers pings with a shell's read, so that what follows the handshake can be sent.
const pongs = `echo '` + hello + `'
for i in 1 2 3 4 5 6 7 8; do read -r line; n=${line#*:}; echo "{\"pong\":${n%\}},\"mono\":5}"; done
read -r plan
`

// Whatever a member sends, it is marked lost and the others' figures and this process live on.
func TestHostileMembers(t *testing.T) {
	data := func(raw []byte) string {
		sum := sha256.Sum256(raw)
		return `echo '{"event":"finished"}'; read -r bundle; echo '{"data":"` + base64.StdEncoding.EncodeToString(raw) + `"}'; echo '{"sha256":"` + hex.EncodeToString(sum[:]) + `"}'; read -r end`
	}
	run := []byte(`{"schema":2,"state":"finished","suite":{"name":"db","scenarios":[{"id":3,"name":"../../x"}]}}`)
	bins := []byte(`{"id":3,"state":"done","seconds":[{"at":1000000000,"len":1000000000,"read":{"n":1,"hist":[[99999999,1]]}}]}`)
	f, dir := runVia(t, map[string]string{
		"nothing":  `exit 0`,
		"flood":    `head -c 1073741824 /dev/zero | tr '\0' x`,
		"garbage":  `echo "not the protocol"; cat`,
		"nan":      pongs + `echo '{"event":"second","scenario":3,"iops":NaN}'; cat`,
		"huge":     pongs + `echo '{"event":"second","scenario":3,"iops":1e999}'; cat`,
		"other":    `echo '{"plimsoll":7}'; cat`,
		"version":  `echo '{"plimsoll":1,"version":"9.9","fio":"fio-3.33"}'; cat`,
		"unasked":  pongs + `echo '{"data":"AAAA"}'; cat`,
		"damaged":  pongs + `echo '{"event":"finished"}'; read -r b; echo '{"data":"AAAA"}'; echo '{"sha256":"00"}'; cat`,
		"no-tar":   pongs + data([]byte("no archive at all")),
		"link":     pongs + data(archive(t, tar.Header{Name: "run.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})),
		"bins":     pongs + data(packed(t, map[string][]byte{"run.json": run, "03-x/result.json": bins, "03-..-..-x/result.json": bins})),
		"no-run":   pongs + data(packed(t, map[string][]byte{"x": []byte("x")})),
		"escape":   pongs + `echo '{"event":"note","note":"\u001b[2J"}'; echo '{"event":"refused","note":"\u001b]0;x\u0007"}'; cat`,
		"checked":  pongs + `echo '{"event":"checked","checkup":{"facts":{}}}'; cat`,
		"starving": pongs + `while :; do echo '{"event":"began","scenario":'$((n=n+1))',"mono":1}'; [ $n -lt 3000 ] || exit 1; done`,
	})
	for _, h := range f.Hosts {
		if h.State == bundle.HostDone || h.Why == "" || strings.ContainsAny(h.Why, "\x1b\x07") {
			t.Errorf("%s: %s %q", h.Name, h.State, h.Why)
		}
	}
	if f.Verdict != verdict.Invalid || len(f.Scenarios) != 0 {
		t.Errorf("%s, %d scenarios", f.Verdict, len(f.Scenarios))
	}
	for _, path := range []string{filepath.Join(dir, "..", "x"), filepath.Join(dir, "hosts", "x"), filepath.Join(dir, "hosts", "link", "run.json")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 64<<20 {
		t.Errorf("%d MiB are in use", mem.HeapAlloc>>20)
	}
}

func packed(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := pack(&out, dir); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzProtocol feeds a coordinator's host with lines: none may make it fail or hang.
func FuzzProtocol(f *testing.F) {
	f.Add([]byte(hello + "\n" + `{"pong":1,"mono":5}` + "\n" + `{"event":"ready","scenario":3}` + "\n"))
	f.Add([]byte(`{"event":"began","scenario":-1,"mono":-9223372036854775808}` + "\n" + `{"iops":1e308}` + "\n{}\n"))
	f.Add([]byte(hello + "\n" + `{"event":"checked","checkup":{"facts":{"kernel":"\u001b[2J"},"findings":[{"code":"PL208","severity":"error","evidence":[{}]},{"code":"x"}]}}` + "\n"))
	at := f.TempDir()
	gone, err := sys.OpenDir(at)
	if err := errors.Join(err, os.Remove(at)); err != nil { // nothing can be written there
		f.Fatal(err)
	}
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		c := &coordinator{Run: Run{Version: "test", Copy: "never", Note: func(string, string) {}}, fleet: &bundle.Fleet{}, dir: gone}
		if bytes.Contains(data, []byte("checked")) {
			c.dir, c.check = nil, true
		}
		h := &host{sent: map[uint64]int64{1: 0}, starts: map[int]int64{}, end: func() {}, orders: make(chan command, 64)}
		c.hosts = []*host{h}
		lines := newLineReader(bytes.NewReader(data))
		for {
			var m message
			if err := lines.next(&m); err != nil {
				return
			}
			if len(m.Data) > 0 || m.SHA256 != "" {
				continue // unpack has its own target
			}
			c.handle(t.Context(), event{from: h, message: m})
			c.release()
			if h.checkup == nil {
				continue
			}
			for _, f := range h.checkup.Findings {
				if f.Severity.Rank() < 0 || strings.ContainsFunc(f.Message+f.Title+f.Fix+f.Subject, unicode.IsControl) {
					t.Errorf("%+v was taken", f)
				}
			}
		}
	})
}

// FuzzCommands feeds a member with what a coordinator may send, files included: what is written is
// in the directory for it.
func FuzzCommands(f *testing.F) {
	f.Add([]byte(`{"ping":1}` + "\n" + `{"plan":{"args":["3","--data","/data"]}}` + "\n" + `{"go":3,"at":-1}` + "\n"))
	f.Add([]byte(`{"plan":{"args":["a"],"files":[{"arg":0,"name":"../x","data":"AAAA"}]}}` + "\n"))
	temp := f.TempDir()
	f.Setenv("TMPDIR", temp)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		lines := newLineReader(bytes.NewReader(data))
		for {
			var c command
			if lines.next(&c) != nil {
				return
			}
			if c.Plan == nil || len(c.Plan.Files) > 3 {
				continue
			}
			_, dir, _ := receiveFiles(c.Plan) // whatever it is of
			if dir == "" {
				continue
			}
			if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
				t.Errorf("%v %v", entries, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzUnpack unpacks whole streams, as they come and as the tar inside: whatever they hold, only
// regular files come of it, below the directory, and no more than the limit.
func FuzzUnpack(f *testing.F) {
	const (
		limit   = 1 << 12
		longest = 1 << 12 // inputs grow to members without number, each a file to make and to remove
	)
	good := archive(f, tar.Header{Name: "run.json", Size: 5}, tar.Header{Name: "01-a/fio.jsonl", Size: 7})
	f.Add(good)
	for _, stream := range [][]byte{good, archive(f, tar.Header{Name: "../x", Size: 1}), archive(f, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/"})} {
		z, err := zstd.NewReader(bytes.NewReader(stream))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		z.Close()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	top := f.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // memory: a disk would be what is tried
		if dir, err := os.MkdirTemp("/dev/shm", "plimsoll-fuzz-"); err == nil {
			f.Cleanup(func() { _ = os.RemoveAll(dir) })
			top = dir
		}
	}
	inner := filepath.Join(top, "outer", "inner")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		f.Fatal(err)
	}
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		if len(data) > longest {
			return
		}
		defer func() { // most inputs make nothing
			made, _ := os.ReadDir(inner)
			for _, e := range made {
				_ = os.RemoveAll(filepath.Join(inner, e.Name()))
			}
		}()
		root, err := os.OpenRoot(inner)
		if err != nil {
			t.Fatal(err)
		}
		_ = unpackFiles(root, bytes.NewReader(data), limit, tar.TypeReg)
		_ = root.Close()
		if bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			_ = unpack(bytes.NewReader(data), filepath.Join(inner, "z"), limit)
		}
		size := int64(0)
		err = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(path, inner+"/") {
				t.Errorf("%s was made: %v", path, err)
				return err
			}
			size += info.Size()
			return nil
		})
		if err != nil || size > 2*limit {
			t.Errorf("%d bytes, %v", size, err)
		}
	})
}

// FuzzUnpackHeader judges archive members by their headers: what is taken has a local name and
// fits.
func FuzzUnpackHeader(f *testing.F) {
	f.Add("run.json", byte('0'), int64(5))
	f.Add("../x", byte('0'), int64(5))
	f.Add("a/./b", byte('2'), int64(-1))
	bounded.Fuzz(f, func(t *testing.T, name string, kind byte, size int64) {
		h := &tar.Header{Name: name, Typeflag: kind, Size: size}
		if fitting(h, 1, 1<<20) != nil {
			return
		}
		if !filepath.IsLocal(name) || kind != tar.TypeReg || size < 0 || size > 1<<20 || strings.Contains(name, "..") && filepath.Clean(name) != name {
			t.Errorf("%q %c %d was taken", name, kind, size)
		}
	})
}
