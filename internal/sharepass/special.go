package sharepass

import (
	"encoding/binary"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// time encodes a time as decoders make it: in UTC or local time, without a monotonic reading. It returns
// false for any other time.
func (w *walk) time(t time.Time) bool {
	location := byte(1)
	switch t.Location() {
	case time.UTC:
	case time.Local:
		location = 2
	default:
		return false
	}
	if t != t.Round(0) { // Round strips the monotonic reading
		return false
	}
	w.buf = append(w.buf, location)
	w.buf = binary.AppendVarint(w.buf, t.Unix())
	w.buf = binary.AppendUvarint(w.buf, uint64(t.Nanosecond())) //nolint:gosec // never negative
	return true
}

// quantity encodes a Quantity, including its cached text. It returns false for a Quantity that objects
// must not share.
func (w *walk) quantity(q *resource.Quantity) bool {
	p, ok := gotype.PartsOf(q)
	if !ok {
		return false
	}
	w.buf = binary.AppendVarint(w.buf, p.Value)
	w.buf = binary.AppendVarint(w.buf, int64(p.Scale))
	w.string(p.Text)
	w.string(string(p.Format))
	return true
}
