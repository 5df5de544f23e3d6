// Command clientgotests runs client-go's own tests of the packages that this module has
// under client-go's names, on this module and, as a control, on client-go.
//
//	make test-clientgo
//
// The sources come from the module cache. An overlay of the go command turns the tests
// that use nothing unexported into tests of an external test package, so that no file
// of client-go is copied into this repository. Each test runs in a process of its own,
// twice at most. A test that fails on this module must be listed in exceptions.go with
// the reason, and a listed test must fail.
package main
