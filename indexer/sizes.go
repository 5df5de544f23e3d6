package indexer

// IndexSize is the size of an index.
type IndexSize struct {
	Name       string // the name of the index, or its label key
	Namespaced bool   // the label index has a list for each namespace and value
	Values     int    // number of values with objects
	Entries    int    // number of objects under all values together
}

// IndexSizes returns the sizes of the indexes, in the order they were added. It does not wait for
// writers. Its time is proportional to the number of values. It may or may not include concurrent
// writes.
func (x *store) IndexSizes() []IndexSize {
	return x.sizes(func(ix *index) bool { return ix.family == named })
}

// LabelIndexSizes is IndexSizes for the indexes of label keys.
func (x *store) LabelIndexSizes() []IndexSize {
	return x.sizes(func(ix *index) bool { return ix.family != named })
}

func (x *store) sizes(of func(*index) bool) (sizes []IndexSize) {
	for _, ix := range x.live.Load().indexes {
		if of(ix) {
			sizes = append(sizes, ix.size())
		}
	}
	return sizes
}

// size counts the values and entries of an index. Safe for any goroutine.
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
