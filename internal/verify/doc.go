// Package verify switches on the data structures' checks of their own invariants, and the search for programs that
// write into cached objects.
//
// # Guarantees
//
// The switches do not change while a program runs, but for tests of this module. A data structure with a broken invariant panics:
// it would return wrong data otherwise.
package verify
