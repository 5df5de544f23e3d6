package indexer

// IndexSize is what an index is filled with.
type IndexSize struct {
	Name       string // or the label key
	Namespaced bool   // a label's lists are of one namespace each
	Values     int    // that objects are found under
	Entries    int    // objects under all values together
}

// IndexSizes returns the sizes of the indexes, in the order they were added. It waits for no
// writer: what is written meanwhile may count or not. It looks at each value.
func (x *store) IndexSizes() []IndexSize {
	return x.sizes(func(ix *index) bool { return ix.family == named })
}

// LabelIndexSizes is IndexSizes for the indexes of label keys, without those that are
// disabled, see [Indexer.LabelIndexes].
func (x *store) LabelIndexSizes() []IndexSize {
	return x.sizes(func(ix *index) bool { return ix.family != named && !ix.disabled() })
}

func (x *store) sizes(of func(*index) bool) (sizes []IndexSize) {
	for _, ix := range x.live.Load().indexes {
		if of(ix) {
			sizes = append(sizes, ix.size())
		}
	}
	return sizes
}

// size counts what is in an index. Safe for any goroutine.
func (x *index) size() IndexSize {
	s := IndexSize{Name: x.Name, Namespaced: x.family == byLabelIn}
	for n := range x.values.all {
		if entries := n.value.len(); entries > 0 {
			s.Values++
			s.Entries += entries
		}
	}
	return s
}
