package indexer

// Union returns the objects under any of several index values, each once, at one moment, in no
// promised order. The slice belongs to the caller; it is nil if there are none. Objects of
// another type are left out. Union returns [ErrUnknownIndex] if the index does not exist.
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
