package lab

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// node is a file of the guest's image.
type node struct {
	name string // without a leading slash
	mode fs.FileMode
	dev  [2]uint32 // major and minor of a device
	data []byte    // a link's target, or what a generated file holds

	open   func() (fs.File, error) // a copied file's source
	size   int64
	origin string // tells one version of the source from another: its name, size and time of change
}

// tree is an image being put together: by name, so that a file is there once.
type tree map[string]*node

func (t tree) dir(name string) {
	for name = path.Clean(name); name != "." && t[name] == nil; name = path.Dir(name) {
		t[name] = &node{name: name, mode: fs.ModeDir | 0o755}
	}
}

func (t tree) add(n *node) {
	t.dir(path.Dir(n.name))
	t[n.name] = n
}

func (t tree) text(name string, mode fs.FileMode, text string) {
	t.add(&node{name: name, mode: mode, data: []byte(text), size: int64(len(text))})
}

func (t tree) link(name, to string) {
	t.add(&node{name: name, mode: fs.ModeSymlink | 0o777, data: []byte(to), size: int64(len(to))})
}

// sorted returns the nodes by name: a directory comes before what is in it.
func (t tree) sorted() []*node {
	return slices.SortedFunc(maps.Values(t), func(a, b *node) int { return strings.Compare(a.name, b.name) })
}

// writeCPIO writes the tree as the kernel unpacks it: "newc" (linux
// Documentation/driver-api/early-userspace/buffer-format.rst).
func writeCPIO(to io.Writer, t tree) error {
	w := &counting{w: bufio.NewWriterSize(to, 1<<20)}
	for i, n := range t.sorted() {
		if err := writeNode(w, uint32(i+1), n); err != nil {
			return fmt.Errorf("image: %s: %w", n.name, err)
		}
	}
	if err := writeNode(w, 0, &node{name: "TRAILER!!!"}); err != nil {
		return err
	}
	return w.w.Flush()
}

func writeNode(w *counting, inode uint32, n *node) error {
	links := 1
	if n.mode.IsDir() {
		links = 2
	}
	fmt.Fprintf(w, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		inode, unixMode(n.mode), 0, 0, links, 0, n.size, 0, 0, n.dev[0], n.dev[1], len(n.name)+1, 0, n.name)
	w.pad()
	if n.open == nil {
		_, err := w.Write(n.data)
		w.pad()
		return err
	}
	f, err := n.open()
	if err != nil {
		return err
	}
	copied, err := io.Copy(w, f)
	if err == nil && copied != n.size {
		err = fmt.Errorf("%d bytes became %d while the file was copied", n.size, copied)
	}
	w.pad()
	return cmp.Or(err, f.Close())
}

// unixMode is st_mode: type and permissions.
func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	switch {
	case m.IsDir():
		return bits | 0o040000
	case m&fs.ModeSymlink != 0:
		return bits | 0o120000
	case m&fs.ModeCharDevice != 0:
		return bits | 0o020000
	}
	return bits | 0o100000
}

// counting pads to the multiples of 4 that newc wants. Its first error stays in the buffered
// writer.
type counting struct {
	w *bufio.Writer
	n int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counting) pad() {
	_, _ = c.Write(make([]byte, -c.n&3)) // Flush returns the error
}
