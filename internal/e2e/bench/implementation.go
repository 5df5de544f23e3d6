package main

// implementation is who does the work.
type implementation int

const (
	// clientgo is cache.NewSharedIndexInformer.
	clientgo implementation = iota
	// native is tidemark's informer.New.
	native
	// face is tidemark's client-go face, informer.NewSharedIndexInformer.
	face
	// source is nobody: what the source costs that the others are fed from.
	// It is told in the details, and compared with nothing.
	source
)

var names = [...]struct{ flag, title string }{
	clientgo: {"client-go", "client-go"},
	native:   {"native", "tidemark (native)"},
	face:     {"face", "tidemark (client-go face)"},
	source:   {"source", "source alone"},
}

// implementations ranges over all, in the order in which they take turns.
func implementations(yield func(implementation) bool) {
	for i := range names {
		if !yield(implementation(i)) {
			return
		}
	}
}

func (i implementation) flag() string   { return names[i].flag }
func (i implementation) String() string { return names[i].title }
func (i implementation) tidemark() bool { return i == native || i == face }

// everyone is the implementations that most work is done by.
var everyone = []implementation{clientgo, native, face}
