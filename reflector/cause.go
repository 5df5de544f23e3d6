package reflector

// noteCause notes why a full state is asked for, when something that happened leads to one. It
// stays the same until the full state is committed, however often it has to be asked for, but
// where the reason to distrust what is known grows meanwhile.
func (l *loop) noteCause(before phase, in input, a action) {
	switch after := l.machine.phase; {
	case a.rolledBack, in.kind == inServed && in.moved:
		l.cause = CauseHistory
	case in.kind == inServed:
		l.cause = CauseServed
	case !after.fillsStore() || before.fillsStore():
	case before == learning:
		l.cause = CauseStart
	case in.unavailable():
		l.cause = CauseExpired
	case in.kind == inSilent:
		l.cause = CauseSilence
	default:
		l.cause = CauseFailure
	}
}

// fillsStore says that a full state is asked for in a phase, or is about to be.
func (p phase) fillsStore() bool {
	switch p {
	case listing, paging, openingStream, streaming, committingList, committingStream, waitingToList, absent, withdrawing:
		return true
	}
	return false
}
