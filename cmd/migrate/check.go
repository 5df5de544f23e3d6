package main

import "slices"

// check returns what still runs client-go's informers: in the program, tests aside, and in
// what it depends on.
func check(p *program) (own, foreign []note) {
	for _, s := range p.sources {
		if !s.isTest() {
			own = append(own, runs(s)...)
		}
	}
	for _, d := range p.foreign {
		for _, s := range d.sources {
			for _, n := range runs(s) {
				n.text = d.module + ": " + n.text
				foreign = append(foreign, n)
			}
		}
	}
	return own, foreign
}

// runs returns the places where a file makes informers of client-go's.
func runs(s *source) (found []note) {
	for _, i := range s.imports {
		if i.name == "." && engine[i.path] != nil {
			found = append(found, s.note(i.spec, "everything of "+i.path))
		}
		for _, use := range i.uses {
			if runsEngine(i.path, use.Sel.Name) {
				found = append(found, s.note(use, i.path+"."+use.Sel.Name))
			}
		}
	}
	// What the managers of controller-runtime run depends on their options.
	w := &writer{edits: edits{source: s, added: make(map[string]string), gone: make(map[*imported]int)}}
	w.controllerRuntime()
	for _, n := range slices.Concat(w.changes, w.left) {
		n.text = "a cache of controller-runtime"
		found = append(found, n)
	}
	return slices.Compact(found)
}
