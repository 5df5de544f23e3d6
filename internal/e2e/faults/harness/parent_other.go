//go:build !linux

package harness

import "syscall"

// endsWithParent does nothing. This system cannot end a child with its parent, so that servers survive
// killed tests.
func endsWithParent() *syscall.SysProcAttr { return nil }
