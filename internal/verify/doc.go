// Package verify switches on the data structures' checks of their own invariants, and the search for programs that
// write into cached objects.
//
// # Guarantees
//
// The switches never change while a program runs. A data structure with a broken invariant panics:
// it would return wrong data otherwise.
package verify
