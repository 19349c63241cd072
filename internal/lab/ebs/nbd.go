package ebs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The NBD protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md (fixed
// newstyle, simple replies), as far as QEMU speaks it.
const (
	magicRequest = 0x25609513
	magicReply   = 0x67446698
	magicOption  = 0x3e889045565a9
	greeting     = "NBDMAGICIHAVEOPT"

	flagFixed = 1 // of the handshake

	optAbort = 2
	optGo    = 7

	repAck     = 1
	repInfo    = 3
	repUnsup   = 1<<31 + 1
	repInvalid = 1<<31 + 3
	repUnknown = 1<<31 + 6

	infoExport    = 0
	infoBlockSize = 3

	// has flags, flush, FUA, trim, write zeroes, multi-conn
	transmissionFlags = 1<<0 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<8

	cmdRead        = 0
	cmdWrite       = 1
	cmdDisconnect  = 2
	cmdFlush       = 3
	cmdTrim        = 4
	cmdWriteZeroes = 6

	flagFUA = 1 << 0

	nbdOK     = 0
	nbdEIO    = 5
	nbdEINVAL = 22
	nbdENOSPC = 28

	maxPayload = 32 << 20
	maxOption  = 64 << 10
)

var be = binary.BigEndian

var errGone = errors.New("the client left")

// request is one command of the transmission phase.
type request struct {
	flags, kind uint16
	handle      uint64
	off, n      int64
}

const requestSize = 28

func parseRequest(b *[requestSize]byte) (request, error) {
	if m := be.Uint32(b[:]); m != magicRequest {
		return request{}, fmt.Errorf("request magic %#x: want %#x", m, magicRequest)
	}
	r := request{
		flags: be.Uint16(b[4:]), kind: be.Uint16(b[6:]), handle: be.Uint64(b[8:]),
		off: int64(be.Uint64(b[16:])), n: int64(be.Uint32(b[24:])),
	}
	if r.kind == cmdWrite && r.n > maxPayload {
		return r, fmt.Errorf("write of %d bytes: at most %d", r.n, maxPayload)
	}
	return r, nil
}

// check returns the NBD error of a request that a volume of this size cannot serve.
func (r request) check(size int64) uint32 {
	switch r.kind {
	case cmdFlush, cmdDisconnect:
		return nbdOK
	case cmdRead, cmdWrite, cmdTrim, cmdWriteZeroes:
	default:
		return nbdEINVAL
	}
	if r.off < 0 || r.n == 0 || r.kind == cmdRead && r.n > maxPayload {
		return nbdEINVAL
	}
	if r.off > size-r.n {
		if r.kind == cmdWrite || r.kind == cmdWriteZeroes {
			return nbdENOSPC
		}
		return nbdEINVAL
	}
	return nbdOK
}

// negotiate agrees on an export. It returns errGone when the client leaves.
func negotiate(r *bufio.Reader, w io.Writer, volumes func() map[string]*Volume) (*Volume, error) {
	if _, err := w.Write(be.AppendUint16([]byte(greeting), flagFixed)); err != nil {
		return nil, err
	}
	var client [4]byte
	if _, err := io.ReadFull(r, client[:]); err != nil {
		return nil, err
	}
	for {
		var head [16]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, errGone
		}
		option, n := be.Uint32(head[8:]), be.Uint32(head[12:])
		if n > maxOption {
			return nil, fmt.Errorf("option %d of %d bytes: at most %d", option, n, maxOption)
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		v, err := answer(w, option, data, volumes())
		if v != nil || err != nil {
			return v, err
		}
	}
}

// answer serves one option; it returns a volume when the transmission phase begins.
func answer(w io.Writer, option uint32, data []byte, volumes map[string]*Volume) (*Volume, error) {
	reply := func(kind uint32, body []byte) error {
		b := be.AppendUint64(nil, magicOption)
		b = be.AppendUint32(b, option)
		b = be.AppendUint32(b, kind)
		b = be.AppendUint32(b, uint32(len(body)))
		_, err := w.Write(append(b, body...))
		return err
	}
	switch option {
	case optGo:
		if len(data) < 4 || be.Uint32(data) > uint32(len(data)-4) {
			return nil, reply(repInvalid, nil)
		}
		v := volumes[string(data[4:4+be.Uint32(data)])]
		if v == nil {
			return nil, reply(repUnknown, nil)
		}
		sizes := be.AppendUint16(nil, infoBlockSize)
		for _, n := range []uint32{512, 4096, maxPayload} { // least, preferred, most
			sizes = be.AppendUint32(sizes, n)
		}
		export := be.AppendUint64(be.AppendUint16(nil, infoExport), uint64(v.size))
		export = be.AppendUint16(export, transmissionFlags)
		return v, errors.Join(reply(repInfo, export), reply(repInfo, sizes), reply(repAck, nil))
	case optAbort:
		_ = reply(repAck, nil) // the client may be gone already
		return nil, errGone
	}
	return nil, reply(repUnsup, nil)
}
