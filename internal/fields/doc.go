// Package fields knows which fields decoders leave out, and which ones programs write into.
//
// # Guarantees
//
// A [Set] never changes, and is safe for any goroutine. A nil *Set leaves nothing out.
package fields
