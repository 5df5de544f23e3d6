package sim_test

import (
	"fmt"
	"sync"
)

// frozen keeps the objects of the cache and of events until the end of the world, with a fingerprint of
// each. These objects must never change, even when they are no longer in the cache.
type frozen[T comparable] struct {
	fingerprint func(T) string

	mu   sync.Mutex
	seen map[T]string // guarded by mu
}

func fingerprint(p *pod) string {
	return fmt.Sprint(p.Namespace, p.Name, p.UID, p.ResourceVersion, p.Labels, p.Annotations, p.Finalizers, p.OwnerReferences, p.Spec.NodeName)
}

// note records a new object.
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
			problems = append(problems, fmt.Sprintf("a delivered object was changed from %s to %s", was, is))
		}
	}
	return problems
}
