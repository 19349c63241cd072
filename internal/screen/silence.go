package screen

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// silence stops a terminal from echoing keys, which would garble what is painted, and returns what
// restores it. Keys typed meanwhile are dropped. Ctrl-C and Ctrl-Z still send their signals. A
// terminal that this process does not own, as in the background, is left alone: changing it would
// stop the process (SIGTTOU).
func silence(f *os.File) (restore func()) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil || !foreground(fd) {
		return func() {}
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO | unix.ICANON
	if unix.IoctlSetTermios(fd, unix.TCSETS, &quiet) != nil {
		return func() {}
	}
	// After Ctrl-Z and fg the shell has restored its own settings.
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range resumed {
			if foreground(fd) {
				_ = unix.IoctlSetTermios(fd, unix.TCSETS, &quiet) // the worst is a garbled picture
			}
		}
	})
	return func() {
		signal.Stop(resumed)
		close(resumed)
		wg.Wait()
		if !foreground(fd) {
			return
		}
		_ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) // keys are dropped, not handed to the shell
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, before)
	}
}

// foreground is true when the process may change the terminal.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
