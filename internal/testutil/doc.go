// Package testutil contains packages that tests of several packages share, and tests of the whole
// repository. These tests check the imports between packages, that pure files stay pure, that
// client-go's engine never runs, and that every package states its guarantees. Only tests import the
// packages.
package testutil
