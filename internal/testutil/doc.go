// Package testutil has the packages that tests of several packages share, and the
// tests of the repository as a whole. These check the imports between packages,
// that pure files stay pure, that client-go's engine never runs, and that every
// package states its guarantees. Only tests import the packages.
package testutil
