package fences

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// name is the key of the worlds that have one.
var name = indexer.Key{Namespace: "default", Name: "a"}

// noon is the time at which everything happens.
var noon = time.Unix(1_000_000, 0)

// maxVersions is more than the server makes.
const maxVersions = 128

// versions are those of the server's revisions. The fifth is the first with two digits.
var versions = func() (all [maxVersions]string) {
	for i := range all {
		all[i] = strconv.Itoa(i + 6)
	}
	return all
}()

func version(rev int8) string { return versions[rev] }

func revision(version string) int8 { return int8(max(0, slices.Index(versions[:], version))) } //nolint:gosec // below maxVersions

func uid(n int8) string {
	if n == 0 {
		return ""
	}
	return versions[n]
}

func identity(key indexer.Key, s state) object.Identity {
	return object.Identity{Key: key, UID: uid(s.uid), Version: version(s.rev)}
}

// cell returns the state of a key as the store holds it.
func cell(key indexer.Key, s state) Cell {
	switch {
	case s.uid == 0:
		return Cell{}
	case s.hand:
		return Cell{Object: s, Finalizers: s.fin}
	}
	return Cell{Identity: identity(key, s), Object: s, Finalizers: s.fin}
}

// stateOf is the opposite of cell.
func stateOf(c Cell) state {
	s, _ := c.Object.(state)
	return s
}

// loop is what a processLoop does with one key, by the rules.
type loop struct {
	*Fences
	key     indexer.Key
	outcome // without its pen
}

// load returns the fences of a twin's pen.
func load(p pen) Fences {
	var f Fences
	if p.kind == noPen {
		return f
	}
	at := &fence{object: object.Identity{Key: name, UID: uid(p.uid), Version: version(p.rev)}, kind: kind(p.kind - 1), answered: noon}
	f.raise(at, cell(name, p.confirmed))
	return f
}

// save returns the fence of a key as the twin's pen.
func save(f *Fences, key indexer.Key) pen {
	at := f.keys[key]
	if at == nil {
		return pen{}
	}
	p := pen{kind: penKind(at.kind) + 1, uid: revision(at.object.UID), rev: revision(at.object.Version)}
	if at.confirmed.Object != nil {
		p.confirmed = stateOf(at.confirmed)
	}
	return p
}

// takeByRules is take, by the rules that are tested.
func (s store) takeByRules(in input) outcome {
	fences := load(s.pen)
	l := &loop{&fences, name, outcome{store: s}}
	l.take(in)
	if in.moves() {
		l.Reached(version(l.at), in.time(), l.shown, l.restored)
	}
	if err := fences.check(); err != nil {
		panic(err)
	}
	l.pen = save(&fences, name)
	return l.outcome
}

// moves reports whether an input may move the source's version, or is a time.
func (in input) moves() bool { return in.kind != answered && in.kind != written }

// time is when an input comes. An event comes at no time.
func (in input) time() time.Time {
	if in.kind == aged {
		return noon.Add(maxAge)
	}
	return time.Time{}
}

// take applies an input, but for the fences that end with its version.
func (l *loop) take(in input) {
	switch in.kind {
	case answered:
		l.answer(in.answer)
	case event:
		l.watch(in.object, in.deleted)
	case failed:
		l.Failed(l.key, version(in.version))
		l.at = max(l.at, in.version)
	case reached:
		l.at = max(l.at, in.version)
	case listed:
		l.list(in)
	case written:
		l.cell = in.hand
	}
}

func (l *loop) shown(indexer.Key) Cell { return cell(l.key, l.cell) }

func (l *loop) restored(_ indexer.Key, confirmed Cell, ghost bool) {
	if ghost {
		l.ghosts++
	}
	if confirmed.Object == nil {
		l.set(state{})
		return
	}
	l.set(stateOf(confirmed))
}

func (l *loop) answer(a answer) {
	verdict, result := l.Answered(a.onWire(l.key), cell(l.key, l.cell), version(l.at), l.scoped, noon)
	switch verdict {
	case Show:
		l.set(a.now)
	case Remove:
		l.set(state{})
	}
	l.doubt, l.waiting = result == Doubtful, result == Waiting
}

// onWire returns the answer to a write of a key as the transport describes it.
func (a answer) onWire(key indexer.Key) ownwrites.Answer {
	w := ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Outside, Identity: identity(key, a.now), Object: a.now}
	if a.now.in || a.wrong {
		w.Scope = ownwrites.Inside
	}
	if a.vague {
		w.Scope = ownwrites.Unknown
	}
	if !a.blind {
		w.Before = ownwrites.Before{Identity: w.Identity}
	}
	switch {
	case a.status:
		w.Kind, w.Object, w.Version = ownwrites.Undated, nil, ""
	case a.gone:
		w.Kind = ownwrites.Deleted
	case a.now.term && !a.now.fin && !a.delete:
		w.Kind = ownwrites.Emptied
	}
	return w
}

func (l *loop) watch(s state, deleted bool) {
	received := cell(l.key, s)
	if deleted {
		received = Cell{}
	}
	if l.Event(identity(l.key, s), received, cell(l.key, l.cell), l.scoped) == Apply {
		if deleted && l.cell.uid == 0 {
			l.log(entry{old: s, unknown: true})
		}
		l.set(stateOf(received))
	}
	l.at = max(l.at, s.rev)
}

func (l *loop) list(in input) {
	if in.back {
		*l.Fences = Fences{}
		l.at = 0
	}
	if l.Listed(l.key, cell(l.key, in.object), cell(l.key, l.cell), version(in.version), l.scoped) != Hold {
		l.set(in.object)
	}
	l.at = max(l.at, in.version)
}

// check looks whether the fences are as their invariant says.
func (f *Fences) check() error {
	for key, at := range f.keys {
		if at.object.Key != key {
			return fmt.Errorf("the fence of %v is under %v", at.object.Key, key)
		}
	}
	if len(f.due)+len(f.deaths) != len(f.keys) {
		return fmt.Errorf("of %d fences %d end with a version, and %d are dead", len(f.keys), len(f.due), len(f.deaths))
	}
	for i, at := range f.due {
		if f.keys[at.object.Key] != at || at.kind == dead || i > 0 && object.Older(f.due[i-1].object.Version, at.object.Version) {
			return fmt.Errorf("%v is not in its place", at.object.Key)
		}
	}
	for i, at := range f.deaths {
		if f.keys[at.object.Key] != at || at.kind != dead || i > 0 && at.answered.Before(f.deaths[i-1].answered) {
			return fmt.Errorf("the death of %v is not in its place", at.object.Key)
		}
	}
	return nil
}
