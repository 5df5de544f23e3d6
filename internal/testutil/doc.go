// Package testutil holds what the tests of several packages share, and the
// tests of the repository as a whole: which package may import which, which
// files stay pure, that nothing of client-go's engine is run, and that every
// package says what it promises. It is imported by tests only.
package testutil
