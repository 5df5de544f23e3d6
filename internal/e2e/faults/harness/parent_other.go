//go:build !linux

package harness

import "syscall"

// endsWithParent does nothing: this system cannot end a child with its parent, so
// that servers outlive killed tests.
func endsWithParent() *syscall.SysProcAttr { return nil }
