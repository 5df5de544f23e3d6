// Package verify enables two kinds of checks: data structures check their own invariants, and informers
// detect programs that write into cached objects.
//
// # Guarantees
//
// The switches do not change while a program runs, except in tests of this module. A data structure with
// a broken invariant panics, because it would return wrong data.
package verify
