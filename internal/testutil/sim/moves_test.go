package sim_test

import "fmt"

// In some worlds the sources are zones: each source shows the objects with its label, and objects move
// between sources. The union of the sources is the server's state. The events of a move arrive in any
// order: the old source sends a delete and the new source an add, both with the same version. Meanwhile
// the higher version wins. If the new source has already deleted the object, the old source may still
// send its earlier state until it sends the move.

// zoneOf returns the label selector of a source.
func zoneOf(part int) string { return fmt.Sprint("zone=", part) }

// moves reports whether a change moves an object to another source.
func (t *model) moves(c change) bool {
	old := t.live[keyOf(c.pod)]
	return old != nil && !c.gone && old.Labels["zone"] != c.pod.Labels["zone"]
}

// sourceCount returns the number of sources.
func (s setup) sourceCount() int {
	if s.lease {
		return 1
	}
	return max(s.namespaces, s.zones)
}
