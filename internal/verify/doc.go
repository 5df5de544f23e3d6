// Package verify switches on the data structures' checks of their own invariants.
//
// # Guarantees
//
// The switch never changes while a program runs. A data structure with a broken invariant panics:
// it would return wrong data otherwise.
package verify
