package killat

import "golang.org/x/sys/unix"

// call is the number of a system call, its first argument and its third.
func call(r *unix.PtraceRegs) (number, first, third uint64) { return r.Orig_rax, r.Rdi, r.Rdx }

// oldStep knows the calls that only this architecture still has.
func oldStep(number uint64) bool {
	switch number {
	case unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_CHMOD:
		return true
	}
	return false
}
