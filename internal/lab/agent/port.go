package agent

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Port is the guest's end of a virtio-serial port.
type Port struct{ fd int }

// OpenPort opens /dev/vportNpM, without os.File: its poller would take the host's absence for the
// end of the file.
func OpenPort(name string) (*Port, error) {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Port{fd}, nil
}

// absent is how long to wait before asking again whether the host has opened its end.
const absent = 5 * time.Millisecond

func (p *Port) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(p.fd, b)
		switch {
		case n > 0:
			return n, nil
		case err == nil, errors.Is(err, unix.EAGAIN):
			<-time.After(absent) // 0 bytes mean that the host's end is closed
		case !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("read port: %w", err)
		}
	}
}

func (p *Port) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := unix.Write(p.fd, b[done:min(len(b), done+maxBody)])
		switch {
		case n > 0:
			done += n
		case err == nil, errors.Is(err, unix.EAGAIN):
			<-time.After(absent)
		case !errors.Is(err, unix.EINTR):
			return done, fmt.Errorf("write port: %w", err)
		}
	}
	return len(b), nil
}
