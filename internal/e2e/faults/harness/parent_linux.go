package harness

import "syscall"

// endsWithParent makes a child end with its parent, even if the parent is killed.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
