package indexer

import (
	"maps"
	"slices"
)

// Find returns the objects that at least one of the queries selects, each once, in no particular
// order. The Snapshot shows one moment and has its version. Without queries it is empty. The error
// is [ErrUnknownIndex] with the name if a field does not name an index.
//
// Find answers a query from the lists of its namespace, its fields, and the label requirements that
// have an index. It checks the remaining conditions object by object. A query that one list answers
// costs as little as [Indexer.Lookup]. Queries count as selectors that request a label index, see
// [Indexer.Select].
//
// Any goroutine may call Find, but not within a write section. Find delays writers and other lists
// only for the time of a short list. It compares long lists without the lock.
func (x *Indexer[T]) Find(queries ...Query) (Snapshot[T], error) {
	if name, value, one := x.oneField(queries); one {
		return x.Lookup(name, value)
	}
	found, _, err := x.find(queries, false)
	return Snapshot[T](found), err
}

// FindKeys returns the keys of the objects that [Indexer.Find] returns. Use it for few results: it
// copies the keys of the shortest list that has all results.
func (x *store) FindKeys(queries ...Query) ([]Key, error) {
	if name, value, one := x.oneField(queries); one {
		return x.keysBy(name, value)
	}
	_, keys, err := x.find(queries, true)
	return keys, err
}

// oneField returns the field of a single query that has no other condition, such as a relation's.
// It looks up the names of the indexes, which is faster than ranging over the map.
func (x *store) oneField(queries []Query) (name, value string, one bool) {
	if len(queries) != 1 || queries[0].Namespace != "" || queries[0].Labels != nil || len(queries[0].Fields) != 1 {
		return "", "", false
	}
	for _, ix := range x.live.Load().indexes {
		if value, one = queries[0].Fields[ix.Name]; one && ix.family == named {
			return ix.Name, value, true
		}
	}
	return "", "", false
}

func (x *store) find(queries []Query, keyed bool) (Snapshot[any], []Key, error) {
	for {
		searches, err := x.searches(queries)
		if err != nil {
			return Snapshot[any]{}, nil, err
		}
		if version, ok := x.lookUp(searches, keyed); ok {
			found, keys := x.gather(searches)
			return x.list(&found, version), keys, nil
		} // otherwise an index was dropped meanwhile
	}
}

// search is a query in progress.
type search struct {
	terms     []term
	checks    []requirement // not answered by any term
	namespace string        // likewise; "" for none

	// Found while mu is held. The results are the objects in lists that are also in a list of each
	// of the others and pass the checks. The keys are those of lists, for FindKeys.
	lists  []*Snapshot[any]
	keys   []Key
	others [][]*Snapshot[any]
}

// term is a condition that lists answer: an object meets it if it is in one of some lists of an
// index.
type term struct {
	family
	name      string   // of the index
	namespace string   // of the lists, in a byLabelIn index
	values    []string // of the lists; nil for all of them

	// Found while mu is held.
	index *index
	lists []*vector
	size  int
}

// searches translates the queries, except those that select nothing.
func (x *store) searches(queries []Query) (all []search, err error) {
	for _, q := range queries {
		var s search
		for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
			if x.live.Load().index(name, named) == nil {
				return nil, unknownIndex(name)
			}
			s.terms = append(s.terms, term{name: name, values: []string{q.Fields[name]}})
		}
		if requirements, some := requirementsOf(q.Labels); some {
			s.narrow(x, q.Namespace, requirements)
			all = append(all, s)
		}
	}
	return all, nil
}

// narrow adds the conditions for the namespace and the labels.
func (s *search) narrow(x *store, namespace string, requirements []requirement) {
	inLists := namespace == ""
	for i := range requirements {
		ix, values := x.labelIndex(namespace, &requirements[i])
		if ix == nil {
			s.checks = append(s.checks, requirements[i])
			continue
		}
		s.terms = append(s.terms, term{family: ix.family, name: ix.Name, namespace: namespace, values: values})
		inLists = inLists || ix.family == byLabelIn
	}
	switch {
	case inLists:
	case x.live.Load().index(NamespaceIndex, named) != nil:
		s.terms = append(s.terms, term{name: NamespaceIndex, values: []string{namespace}})
	default:
		s.namespace = namespace
	}
}

// lookUp finds the lists of all searches at one moment, and the version. It returns false if an
// index has been dropped since the searches were made.
func (x *store) lookUp(searches []search, keyed bool) (version *string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()

	live, walked := x.live.Load(), 0
	for i := range searches {
		if !searches[i].lookUp(live, keyed, &walked) {
			return nil, false
		}
	}
	return x.version.Load(), true
}

// While mu is held, a search reads the postings of at most maxWalked objects, and all searches of a
// Find those of at most maxWalkedByAll, because a program may pass thousands of queries. The
// searches of a FindKeys have no common limit, because copying the keys takes just as long.
const (
	maxWalked      = 1024
	maxWalkedByAll = 8 * maxWalked
)

// lookUp starts from the shortest lists that have all results. If they are short, it reads the
// postings of their objects, unless the writer is changing these, and adds their number to walked.
func (s *search) lookUp(c *contents, keyed bool, walked *int) bool {
	for i := range s.terms {
		if !s.terms[i].lookUp(c) {
			return false
		}
	}
	if len(s.terms) == 0 {
		s.terms = []term{{lists: []*vector{c.all}}}
	}
	slices.SortFunc(s.terms, func(a, b term) int { return a.size - b.size })
	first, others := &s.terms[0], s.terms[1:]
	some := keyed || *walked+first.size <= maxWalkedByAll
	if len(others) > 0 && some && first.isShort(others) && !c.moving {
		*walked += first.size
		s.walk(first, others, keyed)
		return true
	}
	s.lists = first.snapshots()
	for i := range others {
		s.others = append(s.others, others[i].snapshots())
	}
	for _, v := range first.lists {
		if keyed {
			s.keys = v.appendKeys(s.keys)
		}
	}
	return true
}

// isShort reports whether looking for the objects of a term in the lists of the others takes little
// time.
func (t *term) isShort(others []term) bool {
	for i := range others {
		if others[i].values != nil && len(others[i].lists) > few { // each posting is compared with each list
			return false
		}
	}
	return t.size <= maxWalked
}

// meetsAll reports whether a record is in one list of each term.
func meetsAll(terms []term, r *record) bool {
	for i := range terms {
		if !terms[i].has(r) {
			return false
		}
	}
	return true
}

// walk finds the objects in the lists of a term that meet the other terms.
func (s *search) walk(first *term, others []term, keyed bool) {
	var found Snapshot[any]
	for _, v := range first.lists {
		for _, c := range v.chunks {
			for i, r := range c.owners {
				if !meetsAll(others, r) {
					continue
				}
				found.add(c.objects.at(i))
				if keyed {
					s.keys = append(s.keys, r.key())
				}
			}
		}
	}
	s.lists = []*Snapshot[any]{&found}
}

// lookUp finds the lists of a term. It returns false if the index was dropped.
func (t *term) lookUp(c *contents) bool {
	if t.index = c.index(t.name, t.family); t.index == nil {
		return false
	}
	for _, value := range t.values {
		if v := t.index.list(t.namespace, value); v != nil {
			t.add(v)
		}
	}
	if t.values == nil {
		for n := range t.index.values.all {
			t.add(&n.value)
		}
	}
	return true
}

func (t *term) add(v *vector) {
	t.lists = append(t.lists, v)
	t.size += v.len()
}

// has reports whether a record is in one of the lists, by its postings.
func (t *term) has(r *record) bool {
	for i := range r.value.postingCount() {
		v := &r.value.posting(i).list.value
		if t.values == nil && v.index == t.index || t.values != nil && slices.Contains(t.lists, v) {
			return true
		}
	}
	return false
}

func (t *term) snapshots() []*Snapshot[any] {
	all := make([]*Snapshot[any], len(t.lists))
	for i, v := range t.lists {
		all[i] = v.snapshot()
	}
	return all
}
