// Package fields says which fields of objects are left out when they are
// decoded, and which ones programs write into.
//
// # Guarantees
//
// A [Set] never changes, and may be used by any goroutine. A nil *Set leaves
// nothing out.
package fields
