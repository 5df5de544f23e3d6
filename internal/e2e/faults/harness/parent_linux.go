package harness

import "syscall"

// endsWithParent makes a child end with its parent, also where that is killed.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
