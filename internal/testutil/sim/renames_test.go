package sim_test

import "strings"

// In some worlds the transform renames objects with the label alias. The next version may be without
// the label, which undoes the renaming, and the transform may fail on it, or return nil. The model and
// the server know an object by the server's name, the store and the handlers by the transform's.

const (
	renames     = "rename" // a transform
	aliasLabel  = "alias"
	aliasSuffix = "-alias"
)

// poisons are the ways in which a transform fails on an object, by its label poison.
var poisons = map[string][]string{
	"frail": {"error", "panic"},
	renames: {"error", "panic", "nil"},
}

// alias gives an object the name that the transform gives it.
func alias(p *pod) {
	if p.Labels[aliasLabel] != "" {
		p.Name += aliasSuffix
	}
}

// serverKey returns the server's key of a key in the store.
func serverKey(k key) key {
	k.Name = strings.TrimSuffix(k.Name, aliasSuffix)
	return k
}

// storedKey returns the key in the store of an object of the server.
func (s *setup) storedKey(p *pod) key {
	k := keyOf(p)
	if s.transform == renames && p.Labels[aliasLabel] != "" {
		k.Name += aliasSuffix
	}
	return k
}

// storedAtMost returns the number of keys that objects may have in the store.
func (s *setup) storedAtMost() int {
	if s.transform == renames {
		return 2 * s.namespaces * s.names
	}
	return s.namespaces * s.names
}

// fails reports whether the transform fails on an object of the server.
func (s *setup) fails(p *pod) bool { return poisons[s.transform] != nil && poisonous(p) }

// aliasOf returns the other key that an object may have in the store.
func (s *setup) aliasOf(k key) key {
	if server := serverKey(k); server != k {
		return server
	}
	k.Name += aliasSuffix
	return k
}

// storedTwice returns the objects that the store has under both of their keys. An object that moves between
// sources may have both until the source that it has left says so.
func storedTwice(w *world) (problems []string) {
	if w.transform != renames || w.zones > 0 {
		return nil
	}
	for p := range w.informer.Indexer().All() {
		k := keyOf(p)
		other, twice := w.informer.Indexer().Get(w.aliasOf(k))
		if w.mutant.keepsNames && other == nil {
			other, twice = p, true
		}
		if twice && k == serverKey(k) && len(w.touched) == 0 {
			problems = append(problems, "the store has an object under two names: "+spell(p)+" and "+spell(other))
		}
	}
	return problems
}
