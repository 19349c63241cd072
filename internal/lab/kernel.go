package lab

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// vmlinux returns the ELF image inside a bzImage, which QEMU boots by PVH without letting the
// emulated CPU unpack it (some 2 s). The payload's place is in the setup header: linux
// Documentation/arch/x86/boot.rst.
func vmlinux(bz []byte) ([]byte, error) {
	le := binary.LittleEndian
	if len(bz) < 0x260 || string(bz[0x202:0x206]) != "HdrS" {
		return nil, errors.New("not a bzImage")
	}
	setup := (int(bz[0x1f1]) + 1) * 512
	if bz[0x1f1] == 0 {
		setup = 5 * 512
	}
	begin, size := setup+int(le.Uint32(bz[0x248:])), int(le.Uint32(bz[0x24c:]))
	if begin > len(bz) || size > len(bz)-begin || size < 16 {
		return nil, errors.New("bzImage: the payload lies outside the file")
	}
	elf, err := unpack(bz[begin : begin+size])
	if err != nil {
		return nil, fmt.Errorf("bzImage: %w", err)
	}
	if !bytes.HasPrefix(elf, []byte("\x7fELF")) {
		return nil, errors.New("bzImage: the payload is not an ELF file")
	}
	return elf, nil
}

// writeKernel writes what QEMU boots fastest.
func writeKernel(name string, bz []byte) error {
	kernel, err := vmlinux(bz)
	if err != nil {
		kernel = bz // an unknown compression: QEMU boots it too, only slower
	}
	return os.WriteFile(name, kernel, 0o600)
}

// maxKernel bounds what a damaged payload may unpack to.
const maxKernel = 1 << 30

// unpack undoes the compression. Behind the data stand 4 bytes with its size, which some unpackers
// take for an error.
func unpack(p []byte) ([]byte, error) {
	body := p[:len(p)-4]
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(p, []byte{0x02, 0x21, 0x4c, 0x18}):
		return unpackLZ4(body)
	case bytes.HasPrefix(p, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(body))
	case bytes.HasPrefix(p, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err = zstd.NewReader(bytes.NewReader(body))
	case bytes.HasPrefix(p, []byte("BZh")):
		r = bzip2.NewReader(bytes.NewReader(body))
	case bytes.HasPrefix(p, []byte("\x7fELF")):
		return p, nil
	default:
		return nil, fmt.Errorf("payload begins with %x: want LZ4, gzip, zstd or bzip2", p[:4])
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxKernel))
}

// unpackLZ4 reads the legacy frame: a magic, then blocks with their length before them
// (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md).
func unpackLZ4(p []byte) ([]byte, error) {
	var out []byte
	for p = p[4:]; len(p) >= 4; {
		n := int(binary.LittleEndian.Uint32(p))
		if n == 0 || n > len(p)-4 {
			return nil, errors.New("lz4: a block is cut off")
		}
		var err error
		if out, err = lz4Block(out, p[4:4+n]); err != nil {
			return nil, err
		}
		p = p[4+n:]
	}
	return out, nil
}

var errLZ4 = errors.New("lz4: a block is damaged")

// lz4Block appends one block: sequences of literals and of matches in what was written before.
func lz4Block(out, p []byte) ([]byte, error) {
	start := len(out) // blocks of a legacy frame stand alone
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for i, b := range p {
			n += int(b)
			if b < 255 {
				p = p[i+1:]
				return n, true
			}
		}
		return 0, false
	}
	for len(p) > 0 {
		token := p[0]
		p = p[1:]
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(p) {
			return nil, errLZ4
		}
		out = append(out, p[:literals]...)
		if p = p[literals:]; len(p) == 0 {
			return out, nil // the last sequence has no match
		}
		if len(p) < 2 {
			return nil, errLZ4
		}
		back := int(binary.LittleEndian.Uint16(p))
		p = p[2:]
		match, ok := length(int(token & 15))
		match += 4
		if !ok || back == 0 || back > len(out)-start || len(out)+match > maxKernel {
			return nil, errLZ4
		}
		for match > 0 { // a match may overlap what it writes
			n := min(match, back)
			from := len(out) - back
			out = append(out, out[from:from+n]...)
			match -= n
		}
	}
	return out, nil
}
