package jsondecode

import "github.com/tidemark-k8s/tidemark/internal/fields"

// without returns a text without the fields to drop, as if the server had not sent them. It returns
// malformed text as it is: decoding it fails.
func without(data []byte, drop *fields.Set) []byte {
	var t text
	if drop == nil || !t.scan(data) {
		return data
	}
	return t.without(0, drop)
}

// without returns the bytes of a value without the fields to drop.
func (t *text) without(i uint32, drop *fields.Set) []byte {
	if drop == nil {
		return t.raw(i)
	}
	return t.appendWithout(nil, i, drop)
}

// appendWithout appends a value without the fields to drop. A map's keys count as field names, and paths
// skip arrays.
func (t *text) appendWithout(to []byte, self uint32, drop *fields.Set) []byte {
	v := t.tokens[self]
	if drop == nil || v.kind != kindObject && v.kind != kindArray {
		return append(to, t.raw(self)...)
	}
	to = append(to, t.data[v.start])
	for i, begun := self+1, false; i < v.next; i = t.tokens[i].next {
		below := drop
		if v.kind == kindObject {
			key, leftOut := i, false
			i++ // its value
			if below, leftOut = drop.Of(string(t.content(key))); leftOut {
				continue
			}
			to = t.appendKey(to, key, begun)
		} else if begun {
			to = append(to, ',')
		}
		to, begun = t.appendWithout(to, i, below), true
	}
	return append(to, t.data[v.end-1])
}

// appendKey appends the key of a member, after a comma if it is not the first member.
func (t *text) appendKey(to []byte, key uint32, begun bool) []byte {
	if begun {
		to = append(to, ',')
	}
	return append(append(to, t.raw(key)...), ':')
}
