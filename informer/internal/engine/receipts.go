package engine

import "time"

// receipt is the arrival of an answer of the server: its time, and the number of its last delta. A source's
// deltas are numbered in the order in which they are queued and applied.
type receipt struct {
	at     time.Time
	number uint64
}

// receipts finds the newest answer whose deltas are applied. It does not list all answers that wait in the
// queue, but keeps only the first and the last. If the processLoop lags, the time that it finds may be too
// early, but never too late.
type receipts struct {
	before      time.Time // of the newest answer known to be applied
	first, last receipt
}

// add adds an answer. applied is the number of the source's deltas applied so far.
func (r *receipts) add(next receipt, applied uint64) {
	r.before = r.confirmed(applied)
	switch {
	case r.last.number <= applied:
		r.first = next
	case r.first.number <= applied:
		r.first = r.last
	}
	r.last = next
}

// confirmed returns the time of the newest answer known to be applied; zero for none.
func (r *receipts) confirmed(applied uint64) time.Time {
	switch {
	case r.last.number <= applied:
		return later(r.before, r.last.at)
	case r.first.number <= applied:
		return later(r.before, r.first.at)
	}
	return r.before
}
