package indexer

// Union returns the objects under any of several values of an index, each
// once, as one moment had them, in no promised order; the slice is the
// caller's own, nil if there are none. Those of another type are left out. It returns [ErrUnknownIndex] where there
// is no such index.
func (x *Indexer[T]) Union(index string, values ...string) ([]T, error) {
	x.mu.Lock()
	defer x.mu.Unlock()

	ix := x.live.Load().index(index, named)
	if ix == nil {
		return nil, unknownIndex(index)
	}
	var list []T
	seen := make(map[*record]struct{})
	for _, value := range values {
		v := ix.list("", value)
		if v == nil {
			continue
		}
		for r := range v.records {
			if _, again := seen[r]; !again {
				seen[r] = struct{}{}
				if obj, ok := typed[T](x.decode.Object(r.value.stored())); ok {
					list = append(list, obj)
				}
			}
		}
	}
	return list, nil
}
