// Package ebs is a server of simulated block volumes that behave like Amazon EBS: limited in IOPS
// and throughput each and together, with burst credits, latency, merging of sequential requests,
// slow first touches, fast reads of unwritten blocks, stalls, errors, and a volatile cache that a
// power cut empties. QEMU's nvme device attaches them over NBD on a unix socket.
//
// The data of a request is read or written at once; only the answer waits. It is due at start +
// latency, where start is when the last of the buckets that the request counts against (the
// volume's, its instance's) has a token for it. So a queue at the volume costs no thread and no
// memory but the request's own, and the limits are exact.
package ebs

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Server exports volumes on one unix socket.
type Server struct {
	listener net.Listener
	sleeper  *sleeper
	serving  sync.WaitGroup
	stop     chan struct{} // closed by Close

	mu      sync.Mutex
	volumes map[string]*Volume
	conns   map[net.Conn]struct{}
	closed  bool
}

// Listen starts a server on a new unix socket.
func Listen(socket string) (*Server, error) {
	sleeper, err := newSleeper()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		sleeper.close()
		return nil, fmt.Errorf("volume server: %w", err)
	}
	s := &Server{
		listener: l, sleeper: sleeper, stop: make(chan struct{}),
		volumes: map[string]*Volume{}, conns: map[net.Conn]struct{}{},
	}
	s.serving.Go(s.accept)
	return s, nil
}

// Add exports the file as a volume of this size; the file is made, sparse, when it is not there. A
// file that is there counts as written all over. Instance may be nil.
func (s *Server) Add(name, file string, size units.Bytes, in *Instance, b Behaviour) (*Volume, error) {
	if size == 0 || size%512 != 0 {
		return nil, fmt.Errorf("volume %s: size %d is not a positive multiple of 512", name, size)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("volume %s: %w", name, err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || sys.Names(info) > 1) {
		err = fmt.Errorf("%s is not a regular file with a single name: remove it", file)
	}
	if err == nil {
		err = f.Truncate(int64(size))
	}
	if err != nil {
		_ = f.Close() // the first error says more
		return nil, fmt.Errorf("volume %s: %w", name, err)
	}
	v := &Volume{
		name:    name,
		size:    int64(size),
		file:    f,
		inst:    in,
		srv:     s,
		b:       b,
		meter:   newMeter(),
		sides:   [2]meter{newMeter(), newMeter()},
		rng:     rand.New(rand.NewPCG(uint64(size), uint64(len(name)))),
		written: newBitmap(int64(size), 12),
		touched: newBitmap(int64(size), 19),
	}
	if info.Size() > 0 {
		v.written.set(0, int64(size), true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.volumes[name] != nil || s.closed {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("volume %s: %w", name, fs.ErrExist)
	}
	s.volumes[name] = v
	return v, nil
}

// NewInstance returns a limit for volumes to share.
func (s *Server) NewInstance(l Limits) *Instance {
	return &Instance{srv: s, limits: l, meter: newMeter()}
}

// Close ends all connections, removes the socket and closes the files. Requests in flight are not
// answered.
func (s *Server) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	for c := range s.conns {
		_ = c.Close() // it ends the connection's goroutines; nothing is lost that was answered
	}
	s.mu.Unlock()
	if was {
		return nil
	}
	close(s.stop)
	err := s.listener.Close()
	s.serving.Wait()
	s.sleeper.close()
	for _, v := range s.volumes {
		err = errors.Join(err, v.cache.flush(v.file), v.file.Close())
	}
	return err
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = c.Close() // the server is gone
			return
		}
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.serving.Go(func() {
			defer func() {
				_ = c.Close() // a second close is harmless
				s.mu.Lock()
				delete(s.conns, c)
				s.mu.Unlock()
			}()
			r := bufio.NewReaderSize(c, 256<<10)
			v, err := negotiate(r, c, s.exports)
			if err != nil {
				return // a client that breaks the protocol is cut off
			}
			serve(c, r, v)
		})
	}
}

func (s *Server) exports() map[string]*Volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.volumes)
}
