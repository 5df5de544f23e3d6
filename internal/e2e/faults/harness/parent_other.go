//go:build !linux

package harness

import "syscall"

// endsWithParent cannot be had here: whoever kills the tests has to end the
// servers too.
func endsWithParent() *syscall.SysProcAttr { return nil }
