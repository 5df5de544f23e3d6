// Command clientgotests runs client-go's own tests on this module, for the packages that this module has
// under client-go's names. As a control it also runs them on client-go.
//
//	make test-clientgo
//
// The sources come from the module cache. Tests that use nothing unexported become part of an external
// test package, by an overlay of the go command. So no file of client-go is copied into this repository.
// Each test runs in a separate process, and twice at most. A test that fails on this module must be
// listed in exceptions.go with the reason, and a listed test must fail.
package main
