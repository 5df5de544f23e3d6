// Package fields knows which fields decoders leave out, and removes them from decoded objects.
//
// # Guarantees
//
// A [Set] never changes, and is safe for any goroutine. A nil *Set leaves nothing out.
package fields
