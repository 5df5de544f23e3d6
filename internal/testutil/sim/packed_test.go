package sim_test

import "github.com/tidemark-k8s/tidemark/informer"

// packed says how the informer of a world holds its objects.
type packed uint8

const (
	decoded    packed = iota // as they are
	cold                     // packed, and none decoded as well
	partlyHot                // packed, and some decoded as well
	packedWays = iota
)

func (p packed) String() string {
	return [packedWays]string{"decoded objects", "packed objects", "packed objects and a budget"}[p]
}

func (p packed) storage() (s informer.Storage) {
	switch p {
	case cold:
		s.Decoded = informer.NewBudget(0)
	case partlyHot:
		s.Decoded = informer.NewBudget(64 << 10)
	}
	return s
}
