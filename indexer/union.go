package indexer

// Union returns the objects under any of several index values, each once, at one moment, in no
// promised order. The slice belongs to the caller; it is nil if there are none. Objects of
// another type are left out. Union returns [ErrUnknownIndex] if the index does not exist.
func (x *Indexer[T]) Union(index string, values ...string) ([]T, error) {
	all, ok := x.union(index, values)
	if !ok {
		return nil, unknownIndex(index)
	}
	found, _ := joined[T](&x.store, all)
	return found, nil
}

// union returns the objects in their stored form, or false if the index does not exist.
func (x *store) union(index string, values []string) (all Snapshot[any], ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()

	ix := x.live.Load().index(index, named)
	if ix == nil {
		return all, false
	}
	seen := make(map[*record]struct{})
	for _, value := range values {
		v := ix.list("", value)
		if v == nil {
			continue
		}
		for r := range v.records {
			if _, again := seen[r]; !again {
				seen[r] = struct{}{}
				all.add(r.value.stored())
			}
		}
	}
	return all, true
}
