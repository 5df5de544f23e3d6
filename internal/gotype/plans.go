package gotype

import "sync"

// Plans caches one plan per key. A key is a type, or a type and something else. A plan that Of has
// returned is complete.
type Plans[K comparable, P any] struct {
	made     sync.Map // of *P by K
	building sync.Mutex
}

// Of returns the plan of a key. The first call makes it by fill, which gets the plans of other keys from
// of. Some of these are still incomplete, because types can contain themselves.
func (p *Plans[K, P]) Of(key K, fill func(key K, plan *P, of func(K) *P)) *P {
	if made, ok := p.made.Load(key); ok {
		return made.(*P)
	}
	p.building.Lock()
	defer p.building.Unlock()

	fresh := make(map[K]*P)
	var of func(K) *P
	of = func(key K) *P {
		if made, ok := p.made.Load(key); ok {
			return made.(*P)
		}
		if fresh[key] == nil {
			fresh[key] = new(P)
			fill(key, fresh[key], of)
		}
		return fresh[key]
	}
	plan := of(key)
	for key, plan := range fresh {
		p.made.Store(key, plan)
	}
	return plan
}
