package fences

import "fmt"

// step is an action, and the world after it.
type step struct {
	name string
	next world
}

// stepper gathers what can happen in a world.
type stepper struct {
	from world
	all  []step
}

// do adds an action if it can happen.
func (s *stepper) do(name string, act func(w *world) bool) {
	next := s.from
	if act(&next) {
		next.settleHistory()
		s.all = append(s.all, step{name, next})
	}
}

func (w world) steps(m mutant) []step {
	s := &stepper{from: w}
	if w.rev < maxRev-3 {
		if w.now().uid == 0 {
			s.creates()
		} else {
			s.writes()
			s.deletes()
			s.others()
		}
		s.do("another key", func(w *world) bool { w.other(); return true })
	}
	s.answers(m)
	s.connection(m)
	s.history(m)
	if w.hands {
		s.byHand(m)
	}
	return s.all
}

func (s *stepper) creates() {
	for _, fin := range []bool{false, true} {
		s.do(fmt.Sprintf("create, finalizer=%t", fin), func(w *world) bool {
			w.uids++
			w.commit(state{uid: w.uids, in: true, fin: fin}, true)
			return w.send(answer{create: true, now: w.now()})
		})
	}
	s.do("other creates", func(w *world) bool {
		w.uids++
		w.commit(state{uid: w.uids, in: true}, false)
		return true
	})
}

// writes are those of this program that leave the object.
func (s *stepper) writes() {
	now, cell := s.from.now(), s.from.store.cell
	moved := now
	moved.in = !now.in
	s.do("update", func(w *world) bool { // on condition of the version in the store
		w.put(now, true)
		return cell.rev == now.rev && !cell.hand && w.send(answer{needed: cell.rev, now: w.now()})
	})
	s.do("patch", func(w *world) bool {
		w.put(now, true)
		return w.send(answer{now: w.now()})
	})
	s.do("patch that changes nothing", func(w *world) bool { return w.send(answer{now: now}) })
	s.do("patch with a vague answer", func(w *world) bool {
		w.put(now, true)
		return w.send(answer{now: w.now(), vague: true})
	})
	s.do("patch in or out", func(w *world) bool {
		w.put(moved, true)
		return w.store.scoped && w.send(answer{now: w.now()})
	})
}

// deletes are those of this program, and what ends in them.
func (s *stepper) deletes() {
	now, cell := s.from.now(), s.from.store.cell
	deleted, freed := now, now
	deleted.term, freed.fin = true, false
	s.do("delete", func(w *world) bool {
		if now.term {
			return w.send(answer{delete: true, now: now})
		}
		if w.put(deleted, true) {
			seen := state{uid: now.uid, rev: cell.rev}
			if cell.uid != now.uid {
				seen.rev = 0
			}
			return w.send(answer{delete: true, status: true, now: seen})
		}
		return w.send(answer{delete: true, now: w.now()})
	})
	s.do("delete, answered by the object", func(w *world) bool {
		w.commit(state{}, true)
		gone := now
		gone.rev = w.rev
		return !now.fin && !now.term && !now.kept && w.send(answer{delete: true, gone: true, now: gone})
	})
	s.do("remove the finalizer", func(w *world) bool {
		if w.put(freed, true) {
			return now.fin && w.send(answer{now: freed}) // the object of the request, at its old version
		}
		return now.fin && w.send(answer{now: w.now()})
	})
}

// others are the writes of other programs to the object.
func (s *stepper) others() {
	now := s.from.now()
	moved, deleted, freed := now, now, now
	moved.in, deleted.term, freed.fin = !now.in, true, false
	s.do("other removes the finalizer", func(w *world) bool { w.put(freed, false); return now.fin })
	s.do("other lets it go", func(w *world) bool { w.commit(state{}, false); return now.kept && now.term })
	s.do("other updates", func(w *world) bool { w.put(now, false); return true })
	s.do("other moves in or out", func(w *world) bool { w.put(moved, false); return w.store.scoped })
	s.do("other deletes", func(w *world) bool { w.put(deleted, false); return !now.term })
}

// answers are those that come, and those that never do.
func (s *stepper) answers(m mutant) {
	for i, sent := range s.from.writes {
		if sent.used {
			s.do(fmt.Sprint("answer ", i), func(w *world) bool { w.answer(i, m); return true })
			s.do(fmt.Sprint("no answer ", i), func(w *world) bool { w.writes[i] = write{}; return true })
		}
	}
}

// connection is what the watch and the lists do.
func (s *stepper) connection(m mutant) {
	w := s.from
	switch {
	case !w.broken:
		s.do("watch", func(w *world) bool {
			if w.sent == w.rev {
				return false
			}
			w.watch(m)
			return true
		})
		s.do("bookmark", func(w *world) bool {
			w.take(input{kind: reached, version: w.sent}, m)
			return s.from.store.at < w.sent
		})
		s.do("watch breaks", func(w *world) bool { w.broken = true; return true })
	case w.listed == 0:
		s.do("watch resumes", func(w *world) bool {
			w.broken, w.sent = false, w.store.at
			return w.restored == 0 || w.store.at < w.restored // after only own writes, the age is unknown
		})
		oldest := min(w.store.at, w.rev) // a list may be old, but not older than it was asked to be
		for _, at := range []int8{oldest, w.rev}[:1+min(1, w.rev-oldest)] {
			s.do(fmt.Sprint("list at ", at), func(w *world) bool {
				w.listed, w.list = at+1, visible(w.past[at])
				return true
			})
		}
	default:
		s.do("list commits", func(w *world) bool { w.commitList(m); return true })
	}
}

// history sets the server back by a revision, once.
func (s *stepper) history(m mutant) {
	s.do("restore", func(w *world) bool {
		if w.rev == 0 || w.ever {
			return false
		}
		w.past[w.rev] = state{}
		w.rev--
		w.broken, w.restored, w.ever, w.listed, w.list = true, w.rev+1, true, 0, state{}
		w.writes = [2]write{} // no API server runs meanwhile
		return true
	})
	if m == "fences expire" {
		s.do("expire", func(w *world) bool {
			w.store.pen = pen{}
			return s.from.store.pen.kind == penAhead
		})
	}
}

// byHand is what a user does to the store.
func (s *stepper) byHand(m mutant) {
	cell := s.from.store.cell
	write := func(name string, hand state, possible bool) {
		s.do(name, func(w *world) bool {
			w.take(input{kind: written, hand: hand}, m)
			w.end, w.touched = hand, true
			return possible && !cell.hand
		})
	}
	write("user deletes", state{}, cell.uid != 0)
	write("user copies", state{uid: cell.uid, rev: cell.rev, in: true, fin: cell.fin, hand: true}, cell.uid != 0)
	write("user makes one", state{uid: 9, rev: 1, in: true, hand: true}, cell.uid == 0)
}
