package sim_test

import (
	"fmt"
	"sync"
)

// frozen holds a fingerprint of every object of the cache and of events: nobody may change one.
type frozen struct {
	mu   sync.Mutex
	seen map[*pod]string // guarded by mu
}

func fingerprint(p *pod) string {
	return fmt.Sprint(p.Namespace, p.Name, p.UID, p.ResourceVersion, p.Labels, p.Annotations, p.Spec.NodeName)
}

// note records an object, unless it is known.
func (f *frozen) note(p *pod) {
	if p == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[*pod]string{}
	}
	if _, ok := f.seen[p]; !ok {
		f.seen[p] = fingerprint(p)
	}
}

func (f *frozen) check() (problems []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p, was := range f.seen {
		if is := fingerprint(p); is != was {
			problems = append(problems, fmt.Sprintf("an object that was handed out was changed: %s to %s", was, is))
		}
	}
	return problems
}
