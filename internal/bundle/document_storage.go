package bundle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/script"
	"plimsoll/internal/topology"
)

// stated is the storage that a line of a text states: "gp2 3000GiB x 4 Raid0".
type stated struct {
	line    int
	count   int
	volumes string // as --volumes takes it
	level   string // "" where the line does not say
}

// volumePatterns find the types of volumes that the catalogue has, and volumes in the two orders in
// which people write them.
type volumePatterns struct{ typ, typeFirst, countFirst *regexp.Regexp }

var volumesInText = sync.OnceValue(func() volumePatterns {
	types := cloud.VolumeNames()
	return volumePatterns{
		typ:       regexp.MustCompile(`\b(?:` + types + `)\b`),
		typeFirst: regexp.MustCompile(`(?i)\b(` + types + `)\b[ ,]*(\d[\d.,]*) *([GT])i?B?\b *[x×*] *(\d{1,3})\b`),
		countFirst: regexp.MustCompile(
			`(?i)\b(\d{1,3}) *[x×*] *(?:(\d[\d.,]*) *([GT])i?B? +)?(` + types + `)\b(?:[ ,]*(\d[\d.,]*) *([GT])i?B?\b)?`),
	}
})

var (
	// provisioned are the IOPS and the throughput of each volume, in parentheses behind it.
	provisioned = regexp.MustCompile(`^ *\(([^()]{3,60})\)`)
	eachIOPS    = regexp.MustCompile(`(?i)\b(\d[\d,]*k?) *IOPS\b`)
	eachRate    = regexp.MustCompile(`(?i)\b(\d[\d,.]*) *(Mi?B)(?:/s|ps)\b`)
	raidLevel   = regexp.MustCompile(`(?i)\braid[ -]?(10|[0156])\b`)
)

// storageIn finds the volumes that the lines of a text state. Sizes of volumes are GiB, whatever the
// text calls them.
func storageIn(lines []string) (list []stated) {
	find := volumesInText()
	for i, line := range lines {
		if len(line) > maxStated || !strings.ContainsAny(line, "0123456789") || !strings.ContainsAny(line, "xX×*") {
			continue // no count: what most lines lack is looked for before what costs more
		}
		var s stated
		if m := find.typeFirst.FindStringSubmatch(line); m != nil {
			s = spec(m[4], m[1], m[2], m[3], "")
		} else if at := find.countFirst.FindStringSubmatchIndex(line); at != nil {
			m := find.countFirst.FindStringSubmatch(line)
			size, unit := m[2]+m[5], m[3]+m[6]
			s = spec(m[1], m[4], size, unit, line[at[1]:])
		}
		if s.count == 0 {
			continue
		}
		if len(list) == mostStated {
			break
		}
		s.line = i + 1
		if m := raidLevel.FindStringSubmatch(line); m != nil {
			s.level = "raid" + m[1]
		}
		list = append(list, s)
	}
	return list
}

// maxStated is how long a line may be to be looked at: prose has no longer ones.
const maxStated = 2000

// mostStated bounds what is looked through for each result.
const mostStated = 256

// spec makes volumes as --volumes takes them of the parts of a statement.
func spec(count, typ, size, unit, behind string) stated {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return stated{}
	}
	words := []string{fmt.Sprintf("%dx%s", n, strings.ToLower(typ))}
	if size != "" {
		words = append(words, strings.ReplaceAll(size, ",", "")+strings.ToUpper(unit)+"iB")
	}
	if m := provisioned.FindStringSubmatch(behind); m != nil {
		if each := eachIOPS.FindStringSubmatch(m[1]); each != nil {
			words = append(words, strings.ReplaceAll(each[1], ",", "")+"iops")
		}
		if each := eachRate.FindStringSubmatch(m[1]); each != nil {
			words = append(words, strings.ReplaceAll(each[1], ",", "")+each[2]+"/s")
		}
	}
	return stated{count: n, volumes: strings.Join(words, " ")}
}

// storage is what the text says of the storage of a result: the volumes that are stated last above
// it, with the level that stands beside them or that of the array of as many members which the
// commands above it build last. ok is false where either is missing, or fio's own disk lines show
// another number of members.
func (d *Document) storage(o *fio.Output) (decl *topology.Declaration, where string, ok bool) {
	var s stated
	for _, each := range d.stated {
		if o.Line > 0 && each.line > o.Line && s.count > 0 {
			break
		}
		s = each
	}
	if s.count == 0 || !sameMembers(o, s.count) {
		return nil, "", false
	}
	lines := "line " + strconv.Itoa(s.line)
	level, chunk := s.level, ""
	if a := d.array(o, s.count, s.level); a != nil {
		level, lines = string(a.Level), fmt.Sprintf("lines %d and %d", s.line, a.Line)
		if !a.Assumed {
			chunk = a.Chunk.Arg()
		}
	}
	if s.count > 1 && level == "" {
		return nil, "", false
	}
	if s.count == 1 {
		level, chunk = "", ""
	}
	decl, err := topology.FromFlags(s.volumes, level, chunk, "")
	if err != nil {
		return nil, "", false
	}
	if _, err := topology.FromDeclaration(decl); err != nil {
		return nil, "", false // gp2 without a size: what the text states does not say what it allows
	}
	where = "named in the text, " + lines
	for i := range decl.Arrays {
		a := &decl.Arrays[i]
		a.Origin = topology.Origin{Kind: topology.Assumed, Where: where}
		for key := range a.Origins {
			a.Origins[key] = a.Origin
		}
		for k := range a.Volumes {
			a.Volumes[k].Origin = a.Origin
		}
	}
	return decl, where, true
}

// array is the one of so many members that the commands above a result build last, of the level if
// one is given.
func (d *Document) array(o *fio.Output, members int, level string) (last *script.Array) {
	for _, a := range d.arrays {
		if a.Members == members && (level == "" || string(a.Level) == level) && (o.Line == 0 || a.Line <= o.Line) {
			last = a
		}
	}
	return last
}

// sameMembers says that fio's disk lines do not show another number of members.
func sameMembers(o *fio.Output, n int) bool {
	members := 0
	for _, disk := range o.Disks {
		if disk.Member {
			members++
		}
	}
	return members == n || members == 0 && (n == 1 || len(o.Disks) == 0 || strings.HasPrefix(o.Disks[0].Name, "md") ||
		strings.HasPrefix(o.Disks[0].Name, "dm-"))
}

// onStorage lays the storage that the text states below a result.
func onStorage(r *result.Result, whole *topology.Topology, doc *Document, o *fio.Output) error {
	if doc == nil || len(whole.Arrays) > 0 || r.Topology != nil && len(r.Topology.Arrays) > 0 {
		return nil
	}
	decl, where, ok := doc.storage(o)
	if !ok {
		return nil
	}
	r.Doubt("the volumes are assumed to be %s, %s; --volumes overrides this", decl.Arrays[0].Volumes[0].Type, where)
	return below(r, whole, decl)
}

// below gives a result arrays of its own.
func below(r *result.Result, whole *topology.Topology, decl *topology.Declaration) error {
	t, err := topology.FromDeclaration(decl)
	if err != nil {
		return err
	}
	own := ownTopology(r, whole)
	own.Arrays, own.Targets = t.Arrays, t.Targets
	return nil
}

// NamedVolumes are the volumes of the results that Of names.
type NamedVolumes struct {
	Of   string
	Decl *topology.Declaration
}
