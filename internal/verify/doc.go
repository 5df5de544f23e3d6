// Package verify says whether the data structures of this module shall check
// their own invariants as they go.
//
// # Guarantees
//
// The answer never changes while a program runs. A structure that finds an
// invariant broken panics: going on would hand out wrong data.
package verify
