package sim_test

import "fmt"

// In some worlds the sources are zones: each shows the objects whose label says so, and
// objects move. What is true is the union of the sources. They tell of a move in any
// order: the old one of a delete, and the new one of an add, of one version. Meanwhile
// the higher version wins. Where the new source has said already that the object is
// gone, the old one may still bring what it was, until it says that it has moved.

// zoneOf is the label selector of a source.
func zoneOf(part int) string { return fmt.Sprint("zone=", part) }

// moves tells whether a change moves an object to another source.
func (t *model) moves(c change) bool {
	old := t.live[keyOf(c.pod)]
	return old != nil && !c.gone && old.Labels["zone"] != c.pod.Labels["zone"]
}

// sourceCount is how many sources a world has.
func (s setup) sourceCount() int {
	if s.lease {
		return 1
	}
	return max(s.parts, s.zones)
}
