package fences

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Two sources of an informer have selectors that no object fits at once. An object may move from one to
// the other, and they report it in any order: the newer version stays.

// placed is an object and the source that reads it: 0, 1, or -1 for none.
type placed struct {
	state
	source int8
}

// of returns what a source reads of an object.
func (p placed) of(source int8) state {
	if p.source == source {
		return p.state
	}
	return state{}
}

// joined is a server with one key, and an informer with two sources.
type joined struct {
	past   [maxRev]placed
	rev    int8
	uids   int8
	sent   [2]int8 // by source
	at     [2]int8
	pens   [2]pen
	cell   placed
	writes [2]joinedWrite
	least  int8 // the revision of the last write that has returned
	end    state
}

type joinedWrite struct {
	used   bool
	rev    int8
	is     answer
	source int8 // that reads the object
}

func (j *joined) now() placed { return j.past[j.rev] }

func (j *joined) commit(p placed) {
	j.rev++
	if p.uid != 0 {
		p.rev = j.rev
	}
	j.past[j.rev] = p
}

func (j *joined) send(a answer, source int8) bool {
	for i := range j.writes {
		if !j.writes[i].used {
			j.writes[i] = joinedWrite{true, j.rev, a, source}
			return true
		}
	}
	return false
}

// set writes the cell, and logs it.
func (j *joined) set(p placed) {
	if p.uid == 0 {
		p.source = -1
	}
	if !p.same(j.cell.state) {
		if j.cell.state != j.end {
			panic(fmt.Sprintf("the log leads to %+v, and goes on from %+v", j.end, j.cell.state))
		}
		j.end = p.state
	}
	j.cell = p
}

// put and remove are those of an informer with several sources: another source's object stays if it is
// newer.
func (j *joined) put(s state, source int8) {
	if j.cell.uid != 0 && j.cell.source != source && j.cell.rev > s.rev {
		return
	}
	j.set(placed{s, source})
}

func (j *joined) remove(rev, source int8) {
	if j.cell.source == source || j.cell.uid != 0 && j.cell.rev < rev {
		j.set(placed{})
	}
}

// use lets a source use its fences.
func (j *joined) use(source int8, f func(fences *Fences, shown Cell)) {
	fences := load(j.pens[source])
	f(&fences, cell(name, j.cell.of(source)))
	fences.Reached(version(j.at[source]), time.Time{}, func(indexer.Key) Cell { return cell(name, j.cell.of(source)) }, func(_ indexer.Key, confirmed Cell, _ bool) {
		if was := stateOf(confirmed); was.uid != 0 {
			j.put(was, source)
		} else if j.cell.source == source {
			j.set(placed{})
		}
	})
	if err := fences.check(); err != nil {
		panic(err)
	}
	j.pens[source] = save(&fences, name)
}

// answer lets a write return: the source that reads the object gets its answer first.
func (j *joined) answer(i int) {
	done := j.writes[i]
	j.writes[i] = joinedWrite{}
	certain := true
	first := max(0, done.source)
	for _, source := range [2]int8{first, 1 - first} {
		a := done.is
		a.now.in = source == done.source
		j.use(source, func(fences *Fences, shown Cell) {
			verdict, result := fences.Answered(a.onWire(name), shown, version(j.at[source]), true, noon)
			switch verdict {
			case Show:
				j.put(a.now, source)
			case Remove:
				if j.cell.source == source {
					j.set(placed{})
				}
			}
			certain = certain && result != Doubtful
		})
	}
	if certain {
		j.least = max(j.least, done.rev)
	}
}

// watch brings the next event of a source.
func (j *joined) watch(source int8) {
	j.sent[source]++
	rev := j.sent[source]
	was, is := j.past[rev-1].of(source), j.past[rev].of(source)
	if was == is {
		return
	}
	deleted := is.uid == 0
	id, received := identity(name, is), cell(name, is)
	if deleted {
		was.rev = rev
		id, received = identity(name, was), Cell{}
	}
	j.at[source] = rev
	j.use(source, func(fences *Fences, shown Cell) {
		switch verdict := fences.Event(id, received, shown, true); {
		case verdict != Apply:
		case deleted:
			j.remove(rev, source)
		default:
			j.put(is, source)
		}
	})
}

// bookmark tells a source how far it has come.
func (j *joined) bookmark(source int8) {
	j.at[source] = j.sent[source]
	j.use(source, func(*Fences, Cell) {})
}

type joinedStep struct {
	name string
	next joined
}

func (j joined) steps() (all []joinedStep) {
	do := func(name string, act func(j *joined) bool) {
		if next := j; act(&next) {
			all = append(all, joinedStep{name, next})
		}
	}
	now := j.now()
	if j.rev < maxRev-2 {
		for source := range int8(2) {
			do(fmt.Sprint("create in ", source), func(j *joined) bool {
				j.uids++
				j.commit(placed{state{uid: j.uids}, source})
				return now.uid == 0 && j.send(answer{create: true, now: j.now().state}, source)
			})
			do(fmt.Sprint("other creates in ", source), func(j *joined) bool {
				j.uids++
				j.commit(placed{state{uid: j.uids}, source})
				return now.uid == 0
			})
		}
		for source := int8(-1); source < 2; source++ {
			do(fmt.Sprint("patch, then in ", source), func(j *joined) bool {
				j.commit(placed{now.state, source})
				return now.uid != 0 && j.send(answer{now: j.now().state}, source)
			})
			do(fmt.Sprint("other patches, then in ", source), func(j *joined) bool {
				j.commit(placed{now.state, source})
				return now.uid != 0
			})
		}
		do("delete", func(j *joined) bool {
			j.commit(placed{source: -1})
			seen := state{uid: now.uid, rev: j.cell.rev}
			return now.uid != 0 && j.cell.uid == now.uid && j.send(answer{delete: true, status: true, now: seen}, now.source)
		})
		do("delete, answered by the object", func(j *joined) bool {
			j.commit(placed{source: -1})
			gone := now.state
			gone.rev = j.rev
			return now.uid != 0 && j.send(answer{delete: true, gone: true, now: gone}, now.source)
		})
		do("other deletes", func(j *joined) bool { j.commit(placed{source: -1}); return now.uid != 0 })
	}
	for i := range j.writes {
		do(fmt.Sprint("answer ", i), func(j *joined) bool {
			if !j.writes[i].used {
				return false
			}
			j.answer(i)
			return true
		})
	}
	for source := range int8(2) {
		do(fmt.Sprint("watch of ", source), func(j *joined) bool {
			if j.sent[source] == j.rev {
				return false
			}
			j.watch(source)
			return true
		})
		do(fmt.Sprint("bookmark of ", source), func(j *joined) bool {
			if j.sent[source] == j.at[source] {
				return false
			}
			j.bookmark(source)
			return true
		})
	}
	return all
}

// check looks at what a reader sees of each source: what the source read at the last write that has returned,
// or later. It may see nothing of an object that one source has given up, and the other has not brought yet.
func (j *joined) check() error {
	for source := range int8(2) {
		if shown := j.cell.of(source); (shown.uid != 0 || j.cell.uid == 0) && !j.had(shown, source) {
			return fmt.Errorf("a reader sees %+v, and a write of revision %d has returned", j.cell, j.least)
		}
	}
	return nil
}

// had reports whether a source has read a state since the last write that has returned.
func (j *joined) had(s state, source int8) bool {
	for q := j.least; q <= j.rev; q++ {
		if j.past[q].of(source).same(s) {
			return true
		}
	}
	return false
}

// drain lets everything come.
func (j joined) drain() error {
	for i := range j.writes {
		if j.writes[i].used {
			j.answer(i)
		}
	}
	for source := range int8(2) {
		for j.sent[source] < j.rev {
			j.watch(source)
		}
		j.sent[source] = maxRev + 1 // of other keys
		j.bookmark(source)
		j.use(source, func(fences *Fences, _ Cell) {
			fences.Reached("", noon.Add(maxAge), func(indexer.Key) Cell { return cell(name, j.cell.of(source)) }, func(_ indexer.Key, confirmed Cell, _ bool) {
				if was := stateOf(confirmed); was.uid != 0 {
					j.put(was, source)
				}
			})
		})
	}
	now := j.now()
	if now.source < 0 {
		now = placed{source: -1}
	}
	switch {
	case now.uid != j.cell.uid || now.rev != j.cell.rev || now.source != j.cell.source:
		return fmt.Errorf("the store settles at %+v, and the server has %+v", j.cell, now)
	case j.pens != [2]pen{}:
		return fmt.Errorf("a fence remains: %+v", j.pens)
	case j.end != j.cell.state:
		return fmt.Errorf("the log leads to %+v, and the store holds %+v", j.end, j.cell)
	}
	return nil
}

// exploreJoined shows that where two sources share a store, each with fences of its own, no reader sees what
// is older than a write that has returned, and the store settles.
func exploreJoined(t *testing.T, depth int) {
	type visited struct {
		from int
		name string
		joined
	}
	start := joined{rev: 1, uids: 1, sent: [2]int8{1, 1}, at: [2]int8{1, 1}, cell: placed{state{uid: 1, rev: 1}, 0}, end: state{uid: 1, rev: 1}}
	start.past[0].source = -1
	start.past[1] = start.cell
	worlds := []visited{{-1, "in 0", start}}
	seen := map[joined]struct{}{}
	row := func(i int, last string) []string {
		row := []string{last}
		for ; i >= 0; i = worlds[i].from {
			row = append([]string{worlds[i].name}, row...)
		}
		return row
	}
	first := 0
	for ; depth > 0; depth-- {
		for n := len(worlds); first < n; first++ {
			for _, s := range worlds[first].steps() {
				if _, ok := seen[s.next]; ok {
					continue
				}
				seen[s.next] = struct{}{}
				require.NoError(t, s.next.check(), "after %q", row(first, s.name))
				require.NoError(t, s.next.drain(), "after %q", row(first, s.name))
				worlds = append(worlds, visited{first, s.name, s.next})
			}
		}
	}
	t.Logf("%d states", len(seen))
}
