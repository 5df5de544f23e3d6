package fences

import "fmt"

const maxRev = 12

// world is a server with one key, the connections to it, and the store of an informer.
type world struct {
	past     [maxRev]state // the object at each revision
	rev      int8
	sent     int8 // the watch has brought everything up to it
	uids     int8
	broken   bool // the watch has ended
	listed   int8 // a list is under way at the revision before this one; 0: none
	list     state
	restored int8 // the history was set back to the revision before this one, and nothing shows it yet; 0: no
	ever     bool // it was set back at some time
	hands    bool // the user writes by hand
	touched  bool // the user has, and the store does not show the watch's state since
	least    int8 // readers have to see this revision or a later one: of writes that have returned, and of the watch
	read     int8 // the same, of what was read before
	writes   [2]write
	proofs   [3]proof
	last     entry // of the log
	end      state // where the log leads to
	store    store
}

// write is a write of this program that has not returned.
type write struct {
	used bool
	rev  int8 // what it has made or found
	is   answer
}

// proof is a step from one version to the next that this program has certainly made.
type proof struct {
	create   bool
	from, to int8 // from is below 0 for any
}

// visible returns what the source reads of a state.
func visible(s state) state {
	if s.in {
		return s
	}
	return state{}
}

// starts are the worlds from which rows of actions begin.
func starts(m mutant, hands bool) (names []string, all []world) {
	for _, s := range []state{{}, {uid: 1, rev: 1, in: true}, {uid: 1, rev: 1, in: true, fin: true}, {uid: 1, rev: 1, in: true, kept: true}} {
		for _, scoped := range []bool{false, true} {
			w := world{rev: 1, sent: 1, uids: 1, least: 1, read: 1, end: s, ever: m.late(), hands: hands}
			w.past[1], w.store = s, store{scoped: scoped, cell: s, at: 1}
			all = append(all, w)
			names = append(names, fmt.Sprintf("uid=%d finalizer=%t kept=%t selector=%t", s.uid, s.fin, s.kept, scoped))
		}
	}
	return names, all
}

func (w *world) now() state { return w.past[w.rev] }

func (w *world) commit(s state, own bool) {
	w.rev++
	if s.uid != 0 {
		s.rev, s.own = w.rev, own
	}
	w.past[w.rev] = s
}

// other commits a change of another key.
func (w *world) other() { now := w.now(); w.rev++; w.past[w.rev] = now }

// put commits a state. A deleted object goes with its last finalizer.
func (w *world) put(s state, own bool) (gone bool) {
	if gone = s.term && !s.fin && !s.kept; gone {
		s = state{}
	}
	w.commit(s, own)
	return gone
}

func (w *world) send(a answer) bool {
	a.blind = (a.status || a.now.term && !a.now.fin && !a.delete) && w.store.cell.uid != a.now.uid
	for i := range w.writes {
		if !w.writes[i].used {
			w.writes[i] = write{true, w.rev, a}
			return true
		}
	}
	return false
}

// take gives an input to the store. The rules have to do as their twin does.
func (w *world) take(in input, m mutant) outcome {
	in.answer.wrong = m.wrongScope()
	o := w.store.take(in, m)
	idle := in.kind == reached && w.store.pen.kind == noPen
	if !idle && (m == "" || m == "late: selector not evaluated") {
		if rules := w.store.takeByRules(in); rules != o {
			panic(fmt.Sprintf("after %+v\nthe rules lead to %+v\nand their twin  to %+v", in, rules, o))
		}
	}
	w.store = o.store
	for _, e := range o.entries[:o.n] {
		w.log(e)
	}
	return o
}

// log takes an entry of the log: they follow each other, none goes back, and none that is said to be this
// program's own hides another change.
func (w *world) log(e entry) {
	switch {
	case e.unknown && (w.ever || w.hands):
	case e.unknown:
		panic(fmt.Sprintf("the deletion of %+v is delivered, and the store did not hold it", e.old))
	case !e.old.same(w.end) && !e.old.hand && !w.end.hand:
		panic(fmt.Sprintf("the log leads to %+v, and goes on from %+v", w.end, e.old))
	case !w.ever && !w.hands && e.now.uid != 0 && e.now.rev < w.end.rev:
		panic(fmt.Sprintf("the log goes back from %+v to %+v", w.end, e.now))
	default:
		w.end, w.last = e.now, e
		for _, p := range w.proofs {
			w.prove(p, e)
		}
	}
}

// proves returns the step that an answer proves. An equal version alone proves nothing: a write that
// changes nothing is answered with the version of another writer.
func proves(a answer, m mutant) (proof, bool) {
	switch {
	case a.status || a.gone:
		return proof{}, false
	case m == "own by version alone":
		return proof{from: -1, to: a.now.rev}, true
	case a.create:
		return proof{create: true, to: a.now.rev}, true
	}
	return proof{from: a.needed, to: a.now.rev}, a.needed != 0 && a.needed != a.now.rev
}

// prove panics if an entry is taken for a step of this program alone, and is more.
func (w *world) prove(p proof, e entry) {
	ours := p.from < 0 || p.create && e.old.uid == 0 || !p.create && e.old.uid == e.now.uid && e.old.rev == p.from
	if p.to == 0 || e.now.uid == 0 || e.now.rev != p.to || !ours || w.ever || w.hands {
		return
	}
	from := p.to - 1
	for from > 0 && !visible(w.past[from]).same(e.old) {
		from--
	}
	for q := from + 1; q <= p.to; q++ {
		if w.past[q] != w.past[q-1] && !w.past[q].own {
			panic(fmt.Sprintf("the change of revision %d is hidden: %+v is said to be ours", q, e))
		}
	}
}

// answer lets a write return.
func (w *world) answer(i int, m mutant) {
	done := w.writes[i]
	w.writes[i] = write{}
	if p, ok := proves(done.is, m); ok {
		w.proofs[0], w.proofs[1], w.proofs[2] = p, w.proofs[0], w.proofs[1]
		w.prove(p, w.last)
	}
	o := w.take(input{kind: answered, answer: done.is}, m)
	if !o.doubt && !o.waiting && w.restored == 0 {
		w.least = max(w.least, done.rev)
	}
}

// watch brings the next event.
func (w *world) watch(m mutant) {
	w.sent++
	was, is := w.past[w.sent-1], w.past[w.sent]
	switch {
	case was == is: // of another key
		w.take(input{kind: reached, version: w.sent}, m)
	case visible(is).uid != 0:
		w.take(input{kind: event, object: is}, m)
	case visible(was).uid != 0:
		was.rev = w.sent
		w.take(input{kind: event, object: was, deleted: true}, m)
	}
}

func (w *world) commitList(m mutant) {
	at := w.listed - 1
	back := at < w.store.at
	w.take(input{kind: listed, object: w.list, version: at, back: back}, m)
	w.sent, w.listed, w.list, w.broken = at, 0, state{}, false
	if back && w.restored != 0 {
		w.restored, w.least, w.read = 0, at, 0
	}
}

// settleHistory is called after each action. Once nothing of an earlier history, and nothing that a user
// has written is left, readers may rely on what they see again.
func (w *world) settleHistory() {
	if w.restored != 0 && w.store.pen.kind == noPen && !w.broken {
		w.restored, w.least, w.read = 0, w.store.at, 0
	}
	if now := visible(w.past[w.store.at]); w.touched && w.store.pen.kind == noPen && w.restored == 0 &&
		(now.same(w.store.cell) || now.uid == 0 && w.store.cell.uid == 0) {
		w.touched, w.least, w.read = false, w.store.at, 0
	}
}

// check looks at what a reader sees: a state that the server had, as new as the writes that have returned,
// the watch, and what was read before.
func (w *world) check(m mutant) error {
	w.least = max(w.least, w.store.at)
	if w.restored != 0 || w.touched || m.late() {
		return nil
	}
	for q := max(w.least, w.read); q <= w.rev; q++ {
		if v := visible(w.past[q]); v.same(w.store.cell) || v.uid == 0 && w.store.cell.uid == 0 {
			w.read = q
			return nil
		}
	}
	return fmt.Errorf("a reader sees %+v, and may see what the server has had since revision %d (writes and watch) and %d (earlier reads)", w.store.cell, w.least, w.read)
}

// drain lets everything come. Then the store holds what the server holds, the log leads to it, and no
// fence remains.
func (w world) drain(m mutant) error {
	for i := range w.writes {
		if w.writes[i].used {
			w.answer(i, m)
		}
	}
	if w.broken {
		if w.listed == 0 {
			w.listed, w.list = w.rev+1, visible(w.now())
		}
		w.commitList(m)
	}
	for w.sent < w.rev {
		w.watch(m)
	}
	for w.rev < maxRev-2 { // the versions that were ever heard of are passed
		w.other()
		w.watch(m)
	}
	w.take(input{kind: aged}, m)
	if w.touched || w.store.cell.hand { // what a user has written stays until the next event of the key
		w.uids++
		w.commit(state{uid: w.uids, in: true}, false)
		w.watch(m)
	}
	switch v, cell := visible(w.now()), w.store.cell; {
	case v.uid != cell.uid || v.rev != cell.rev:
		return fmt.Errorf("the store settles at %+v, and the server has %+v", cell, v)
	case w.store.pen.kind != noPen:
		return fmt.Errorf("a fence remains: %+v", w.store.pen)
	case !w.end.same(cell):
		return fmt.Errorf("the log leads to %+v, and the store holds %+v", w.end, cell)
	}
	return nil
}
