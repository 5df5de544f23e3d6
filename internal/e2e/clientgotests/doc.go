// Command clientgotests runs client-go's own tests of what this module has under
// client-go's names, on this module and, as a control, on client-go.
//
//	make test-clientgo
//
// The sources come from the module cache. The tests that use nothing unexported are
// made tests of a package from outside, by an overlay of the go command, so that
// nothing of them is copied. Each test runs in a process of its own, twice at most. What
// fails here must be listed in exceptions.go with the reason, and what is listed must
// fail.
package main
