package fences

// state is the object at one revision of the server, or nothing if uid is 0.
type state struct {
	uid, rev  int8
	in        bool // the source's selector selects it
	fin, term bool // it has a finalizer; it has a deletionTimestamp
	kept      bool // a finalizer outside of its metadata keeps it, as a Namespace's spec does
	own       bool // this program has made it; only the world looks at it
	hand      bool // a user has put it by hand
}

func (s state) same(o state) bool { return s.uid == o.uid && s.rev == o.rev && !s.hand && !o.hand }

// pen is a fence of the twin.
type pen struct {
	kind      penKind
	uid, rev  int8
	confirmed state
}

type penKind uint8

const (
	noPen penKind = iota
	penAhead
	penAbsent
	penDead
)

// answer is what a write of this program is answered with.
type answer struct {
	create bool // the object was made
	delete bool // of a DELETE: it never answers with the object of the request
	needed int8 // the revision that the object had to have, 0 for any
	status bool // a Status with the UID: deleted at an unknown version. now.rev is what the store held
	blind  bool // the store did not hold the object when the request began
	gone   bool // the deleted object, at the revision of the deletion
	vague  bool // it is unknown whether the source reads the object
	wrong  bool // the transport says that the source reads the object, whether it does or not
	now    state
}

// entry is a change in the log. Unknown is the deletion of an object that the store did not hold.
type entry struct {
	old, now state
	unknown  bool
}

// input is something that comes for the key.
type input struct {
	kind    inputKind
	answer  answer
	object  state
	version int8
	deleted bool // the event is a deletion, of object
	back    bool // the history of the list is another one
	hand    state
}

type inputKind uint8

const (
	answered inputKind = iota
	event
	failed
	reached
	listed
	aged
	written
)

// store is the state of one key, with the twin's rules. The twin has one key only, and versions that are small
// numbers; each method applies one input as a whole.
type store struct {
	scoped bool
	cell   state
	at     int8 // the version that the source has reached
	pen    pen
	ghosts int8
}

// outcome is what an input leads to.
type outcome struct {
	store
	entries [3]entry
	n       int
	doubt   bool // the program does not know what the write has done
	waiting bool // it knows, and the store does not show it
}

func (o *outcome) log(e entry) {
	o.entries[o.n] = e
	o.n++
}

// mutant names a rule of the twin that is switched off.
type mutant string

// take is the twin of the rules.
func (s store) take(in input, m mutant) outcome {
	o := outcome{store: s}
	switch in.kind {
	case answered:
		o.drop()
		o.answered(in.answer, m)
	case event:
		o.drop()
		o.event(in.object, in.deleted, m)
	case failed:
		o.failed(in.version)
	case reached:
		o.reached(in.version, m)
	case listed:
		o.drop()
		o.listed(in, m)
	case aged:
		if o.pen.kind == penDead {
			o.expire(m)
		}
	case written:
		o.cell = in.hand
	}
	return o
}

// drop ends a fence over what a user has put.
func (o *outcome) drop() {
	if o.cell.hand {
		o.pen = pen{}
	}
}

func (o *outcome) raise(p pen) {
	p.confirmed = o.pen.confirmed
	if o.pen.kind == noPen {
		p.confirmed = o.cell
	}
	if p.confirmed.uid == 0 {
		p.confirmed = state{}
	}
	o.pen = p
}

func (o *outcome) set(s state) {
	if !s.same(o.cell) && (s.uid != 0 || o.cell.uid != 0) {
		o.log(entry{old: o.cell, now: s})
	}
	o.cell = s
}

func (o *outcome) expire(m mutant) {
	p := o.pen
	o.pen = pen{}
	if o.cell.hand {
		return
	}
	if p.kind == penAhead {
		o.ghosts++
	}
	if m == "ghosts are removed" {
		p.confirmed = state{}
	}
	o.set(p.confirmed)
}

func (o *outcome) answered(a answer, m mutant) {
	now := a.now
	if m == "naive write-back" {
		if a.status || a.gone {
			now = state{}
		}
		o.set(now)
		return
	}
	switch {
	case a.status || o.emptied(a, m):
		o.dead(now.uid, now.rev, a.blind, m)
	case now.term && !now.fin && !a.delete && m != "emptied finalizers are an update":
		o.doubt = !o.over(a)
	case now.rev <= o.at, o.pen.kind != noPen && o.pen.kind != penDead && now.rev <= o.pen.rev:
	case o.pen.kind == penDead && (o.pen.uid == now.uid || now.rev < o.pen.rev):
	case a.vague && !a.gone:
		o.waiting = true
	case a.gone, !now.in && !a.wrong:
		o.raise(pen{kind: penAbsent, uid: now.uid, rev: now.rev})
		o.set(state{})
	default:
		o.raise(pen{kind: penAhead, uid: now.uid, rev: now.rev})
		o.set(now)
	}
	if m == "no fence" {
		o.pen = pen{}
	}
}

// wrongScope reports whether it is no rule that is switched off, but the transport's look at selectors.
func (m mutant) wrongScope() bool {
	return m == "selector not evaluated" || m.late()
}

// late reports whether readers may see what the server never had, and only the end counts.
func (m mutant) late() bool {
	return m == "late: selector not evaluated" || m == "late: selector not evaluated, no ghost check"
}

// emptied reports whether an update has removed the last finalizer of a deleted object.
func (o *outcome) emptied(a answer, m mutant) bool {
	if !a.now.term || a.now.fin || a.delete || m == "emptied finalizers are an update" {
		return false
	}
	return a.now.same(o.cell) && o.cell.fin || m == "no finalizers, no object"
}

// over reports whether the object is deleted, and the store knows.
func (o *outcome) over(a answer) bool {
	if o.pen.kind != noPen {
		return o.pen.kind == penDead && o.pen.uid == a.now.uid
	}
	return o.cell.uid == 0 && !o.scoped && !a.blind
}

func (o *outcome) dead(uid, rev int8, blind bool, m mutant) {
	if m == "no UID fence" {
		o.set(state{})
		return
	}
	seen := o.cell.rev
	if o.cell.hand {
		seen = 0
	}
	switch held, fenced := o.cell.uid == uid && !o.cell.hand, o.pen.kind != noPen && o.pen.uid == uid; {
	case fenced && o.pen.kind == penDead:
		return
	case held, fenced:
		if held {
			rev = max(rev, seen)
		}
		if fenced {
			rev = max(rev, o.pen.rev)
		}
	case blind:
		o.doubt = true
		return
	case o.cell.uid == 0 && o.pen.kind == noPen && (!o.scoped || m == "what has gone stays away"):
		return
	case rev < max(seen, o.pen.rev):
		return
	}
	o.raise(pen{kind: penDead, uid: uid, rev: rev})
	o.set(state{})
}

func (o *outcome) event(s state, deleted bool, m mutant) {
	shown, p := s, o.pen
	if deleted {
		shown = state{}
	}
	older, echo := false, false
	switch {
	case p.kind == penDead && p.uid == s.uid:
		older = true
		if deleted && (!o.scoped || m == "any DELETED is the end") {
			o.pen = pen{}
		}
	case p.kind != noPen && s.rev < p.rev:
		older = true
	case p.kind != noPen:
		o.pen = pen{}
		echo = p.kind != penDead && s.rev == p.rev && s.uid == p.uid && (shown.same(o.cell) || deleted && o.cell.uid == 0)
	}
	if o.pen.kind != noPen {
		o.pen.confirmed = shown
	}
	switch {
	case older && deleted && o.pen.kind == noPen && m == "what ends the dead is delivered":
		o.log(entry{old: s, unknown: true})
	case older, echo && m != "the echo of a deletion is delivered":
	case deleted && o.cell.uid == 0:
		o.log(entry{old: s, unknown: true})
		o.cell = state{}
	default:
		o.set(shown)
	}
	o.reached(s.rev, m)
}

// failed takes an event whose object could not be prepared.
func (o *outcome) failed(version int8) {
	if p := o.pen; p.kind != noPen && p.kind != penDead && version >= p.rev {
		o.pen = pen{}
	}
	o.reached(version, "")
}

func (o *outcome) reached(version int8, m mutant) {
	o.at = max(o.at, version)
	p := o.pen
	switch {
	case p.kind == noPen, p.kind == penDead, p.rev > o.at:
	case m == "late: selector not evaluated, no ghost check":
		o.pen = pen{}
	default:
		o.expire(m)
	}
}

func (o *outcome) listed(in input, m mutant) {
	l, v, p := in.version, in.object, o.pen
	if in.back && m != "set-back ignored" {
		o.pen, o.at = pen{}, l
		o.set(v)
		return
	}
	switch {
	case p.kind == noPen || m == "lists always win",
		p.kind != penDead && l >= p.rev,
		p.kind == penDead && m == "a list ends the dead",
		p.kind == penDead && v.uid == 0 && (!o.scoped || m == "who has left is dead") && (l >= p.rev || m == "an old list ends the dead"),
		p.kind == penDead && v.uid != p.uid && v.uid != 0 && v.rev >= p.rev:
		o.pen = pen{}
		o.set(v)
	default:
		o.pen.confirmed = v
	}
	o.at = max(o.at, l)
}
