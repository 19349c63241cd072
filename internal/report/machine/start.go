package machine

import (
	"slices"
	"strings"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Here is what the machine has that plimsoll works with.
type Here struct {
	Fio  string // its version, "" where it is not installed
	Root bool
}

// Start is the document of a first look: the storage of a path, what is missing, and what to do next.
func Start(t *topology.Topology, have Here) *page.Document {
	d := page.New("start", standing(t), "topology", t)
	missing := page.Note{Title: "missing", Lines: text.Present(
		words.When(have.Fio == "", "fio, to measure: apt-get install fio or dnf install fio"),
		words.When(!have.Root, "root, to see the kernel log, the superblocks and who does the I/O: sudo plimsoll"),
		words.When(unlimited(t), "the limits of the volumes, for ceilings and verdicts: --volumes "+t.Instance.Example()+
			", or plimsoll --yaml > plimsoll.yaml and fill it in"),
	)}
	next := page.Captioned("what to do now", "<, <")
	next.Add("plimsoll why .", "whether the storage is slow now, and why (5 s)")
	next.Add("plimsoll check .", "whether it is set up correctly")
	if have.Fio != "" {
		next.Add("plimsoll run quick", "what it can carry: a few minutes, in its own files")
	} else {
		next.Add("plimsoll import FILE", "what someone else's fio output says")
	}
	d.Add(missing, next, page.Sentences("All commands: plimsoll --help"))
	return d
}

// unlimited says that no limit of an array's volumes is known.
func unlimited(t *topology.Topology) bool {
	return !slices.ContainsFunc(t.Arrays, func(a topology.Array) bool {
		return slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return v.Sustained.Known() })
	})
}

// Beginning is a plimsoll.yaml of what was seen; what was not is a comment to fill in.
func Beginning(t *topology.Topology) string {
	var y text.Lines
	y.Say("# What plimsoll sees of this machine. Fill in what it could not see: docs/plimsoll-yaml.md.")
	if i := t.Instance; i.Type != "" {
		y.Say("instance: %s", i.Type)
	} else {
		y.Say("# instance: c8g.2xlarge")
	}
	y.Say("arrays:")
	for _, a := range t.Arrays {
		words.ArrayYAML(&y, a.Name, a.Level, a.Chunk, len(a.Volumes))
		var v topology.Volume
		if len(a.Volumes) > 0 {
			v = a.Volumes[0]
		}
		switch {
		case v.Type != "":
			y.Say("      type: %s", v.Type)
		case v.Sustained.Known():
			y.Say("      iops: %s", v.Sustained.IOPS.Arg())
			y.Say("      throughput: %s", v.Sustained.Rate.Arg())
		default:
			y.Say("      # type: %s # what was ordered, or iops: and throughput: of one volume",
				strings.TrimLeft(t.Instance.Example(), "0123456789x"))
		}
		if v.Size > 0 {
			y.Say("      size: %s", v.Size.Arg())
		}
	}
	return strings.Join(y, "\n") + "\n"
}
