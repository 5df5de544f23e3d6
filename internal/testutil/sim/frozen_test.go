package sim_test

import (
	"fmt"
	"sync"
)

// frozen holds the objects of the cache and of events for as long as the world lasts, with a fingerprint of each:
// nobody may change one, whatever becomes of it in the cache.
type frozen[T comparable] struct {
	fingerprint func(T) string

	mu   sync.Mutex
	seen map[T]string // guarded by mu
}

func fingerprint(p *pod) string {
	return fmt.Sprint(p.Namespace, p.Name, p.UID, p.ResourceVersion, p.Labels, p.Annotations, p.Finalizers, p.OwnerReferences, p.Spec.NodeName)
}

// note records an object, unless it is known.
func (f *frozen[T]) note(p T) {
	var none T
	if p == none {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[T]string{}
	}
	if _, ok := f.seen[p]; !ok {
		f.seen[p] = f.fingerprint(p)
	}
}

func (f *frozen[T]) check() (problems []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p, was := range f.seen {
		if is := f.fingerprint(p); is != was {
			problems = append(problems, fmt.Sprintf("an object that was handed out was changed: %s to %s", was, is))
		}
	}
	return problems
}
