package sim_test

// In some worlds the transform renames objects with the label alias, which quarantines them. The next
// version may not have the label. The transform may also fail on an object, or return nil.

const (
	renames    = "rename" // a transform
	aliasLabel = "alias"
)

// poisons are the ways in which a transform fails on an object, by the value of its label poison.
var poisons = map[string][]string{
	"frail": {"error", "panic"},
	renames: {"error", "panic", "nil"},
}

// alias renames an object that has the label.
func alias(p *pod) {
	if p.Labels[aliasLabel] != "" {
		p.Name += "-alias"
	}
}

// objectsAtMost returns the largest number of objects on the server.
func (s *setup) objectsAtMost() int { return s.namespaces * s.names }

// fails reports whether the transform fails on an object of the server, or renames it.
func (s *setup) fails(p *pod) bool {
	return poisons[s.transform] != nil && poisonous(p) || s.transform == renames && p.Labels[aliasLabel] != ""
}
