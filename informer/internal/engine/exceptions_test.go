package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// An identity belongs to one stored object: another object under the same key has none.
func TestAnIdentityIsOfAnObjectAndNotOfAKey(t *testing.T) {
	type uncomparable struct{ values []string }
	a, key := kit.Pod("a", "1"), indexer.Key{Namespace: "default", Name: "a"}
	var known exceptions
	known.put(a, object.Identity{Key: key, UID: "uid", Version: "7"})
	id, ok := known.identity(key, a)
	require.True(t, ok)
	require.Equal(t, object.Identity{Key: key, UID: "uid", Version: "7"}, id)
	for _, other := range []any{a.DeepCopy(), nil, uncomparable{values: []string{"x"}}} {
		_, ok := known.identity(key, other)
		require.False(t, ok)
	}
	_, ok = known.identity(indexer.Key{Name: "a"}, a)
	require.False(t, ok)
	known.put(uncomparable{}, object.Identity{Key: key, UID: "uid", Version: "7"})
	_, ok = known.identity(key, uncomparable{})
	require.False(t, ok)
	known.put(a, object.Identity{Key: key, UID: "uid-a", Version: "1"})
	require.Empty(t, known.identities, "its metadata tell it")
}

// said is what a server has said of an object, in the twin.
type said struct {
	stored   *corev1.Pod // nil if no version was ever put
	identity object.Identity
	failed   bool
}

// exceptionTwins are the exceptions of a source, and their slow twin, which keeps every object.
type exceptionTwins struct {
	t          *testing.T
	rand       *rand.Rand
	quarantine quarantine
	fast       exceptions
	slow       map[indexer.Key]said
	serial     int
}

func (w *exceptionTwins) step() {
	key := indexer.Key{Namespace: "default", Name: string(rune('a' + w.rand.IntN(6)))}
	w.serial++
	switch w.rand.IntN(6) {
	case 0, 1, 2:
		w.slow[key] = w.put(&w.fast, key)
	case 3, 4:
		w.slow[key] = w.fail(&w.fast, key, w.slow[key])
	default:
		w.fast.forget(key)
		w.quarantine.leave(&w.fast, key)
		delete(w.slow, key)
	}
}

// put stores an object, stripped of its identity or not.
func (w *exceptionTwins) put(in *exceptions, key indexer.Key) said {
	p := kit.Pod(key.Name, fmt.Sprint(w.serial))
	id := object.IdentityOf(key, p)
	if w.rand.IntN(3) == 0 {
		p.UID, p.ResourceVersion = "", ""
	}
	in.put(p, id)
	w.quarantine.leave(in, key)
	return said{stored: p, identity: id}
}

func (w *exceptionTwins) fail(in *exceptions, key indexer.Key, s said) said {
	entered := w.quarantine.enter(in, key, nil)
	require.Equal(w.t, !s.failed, entered)
	s.failed = true
	return s
}

// relist replaces the objects by those of a full state, in which some are listed again, some fail and
// some are gone. Some full states are given up.
func (w *exceptionTwins) relist() {
	var next exceptions
	slow := map[indexer.Key]said{}
	for _, key := range slices.SortedFunc(maps.Keys(w.slow), func(a, b indexer.Key) int { return strings.Compare(a.Name, b.Name) }) {
		s := w.slow[key]
		w.serial++
		switch w.rand.IntN(4) {
		case 0: // gone
		case 1:
			if s.stored != nil {
				next.keep(key, &w.fast)
			}
			s.failed = false
			slow[key] = w.fail(&next, key, s)
		default:
			slow[key] = w.put(&next, key)
		}
	}
	if w.rand.IntN(4) == 0 {
		w.quarantine.leaveAll(&next)
		return
	}
	w.quarantine.leaveAll(&w.fast)
	w.fast.replace(&next)
	w.slow = slow
	require.Zero(w.t, len(next.failed)+len(next.identities))
}

func (w *exceptionTwins) compare() {
	failures, hidden := 0, 0
	for key, s := range w.slow {
		require.Equal(w.t, s.failed, w.fast.hasFailed(key))
		require.Equal(w.t, s.failed, w.quarantine.holds(key))
		if s.failed {
			failures++
		}
		if s.stored == nil {
			continue
		}
		id, ok := w.fast.identity(key, s.stored)
		if !ok {
			id = object.IdentityOf(key, s.stored)
		} else {
			hidden++
		}
		require.Equal(w.t, s.identity, id)
	}
	require.Len(w.t, w.fast.failed, failures)
	require.Len(w.t, w.quarantine.all(), failures)
	require.Len(w.t, w.fast.identities, hidden)
}

func playExceptions(t *testing.T, more func() bool, r *rand.Rand) {
	w := &exceptionTwins{t: t, rand: r, slow: map[indexer.Key]said{}}
	for more() {
		if r.IntN(30) == 0 {
			w.relist()
		} else {
			w.step()
		}
		w.compare()
	}
}

func TestExceptionsAgainstTheirTwin(t *testing.T) {
	for seed := range uint64(30) {
		steps := 0
		playExceptions(t, func() bool { steps++; return steps < 500 }, rand.New(rand.NewPCG(seed, 4))) //nolint:gosec // a test
	}
}

func FuzzExceptions(f *testing.F) { chance.Fuzz(f, playExceptions) }
