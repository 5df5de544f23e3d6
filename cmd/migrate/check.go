package main

import "slices"

// check returns the places that still run client-go's informers, in the program without its tests, and in its
// dependencies.
func check(p *program) (own, dependencies []note) {
	for _, s := range p.sources {
		if !s.isTest() {
			own = append(own, runs(s)...)
		}
	}
	for _, d := range p.dependencies {
		for _, s := range d.sources {
			for _, n := range runs(s) {
				if d.module == "" {
					own = append(own, n)
					continue
				}
				n.text = d.module + ": " + n.text
				dependencies = append(dependencies, n)
			}
		}
	}
	return own, dependencies
}

// runs returns the places where a file makes informers of client-go.
func runs(s *source) (found []note) {
	for _, i := range s.imports {
		if i.name == "." && hasEngine(i.path) {
			found = append(found, s.note(i.spec, "all names of "+i.path))
		}
		for _, use := range i.uses {
			if runsEngine(i.path, use.Sel.Name) {
				found = append(found, s.note(use, i.path+"."+use.Sel.Name))
			}
		}
	}
	// A manager of controller-runtime runs client-go's informers, unless its options choose others.
	w := &writer{edits: edits{source: s, added: make(map[string]string), gone: make(map[*imported]int)}}
	if !s.mentions(ourInformer, "ForControllerRuntime") {
		w.controllerRuntime()
	}
	for _, n := range slices.Concat(w.changes, w.left) {
		n.text = "a cache of controller-runtime"
		found = append(found, n)
	}
	return slices.Compact(found)
}
