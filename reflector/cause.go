package reflector

// noteCause notes the reason for the full state that an input leads to. Repeated requests keep the
// reason until the full state is committed. Only a new history, or a resource that is served again,
// replaces it earlier: such a full state may undo everything that is known.
func (l *loop) noteCause(before phase, in input, a action) {
	switch after := l.machine.phase; {
	case a.rolledBack:
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

// fillsStore reports whether a full state is requested in a phase, or is about to be.
func (p phase) fillsStore() bool {
	switch p {
	case listing, paging, openingStream, streaming, committingList, committingStream, waitingToList, absent, withdrawing:
		return true
	}
	return false
}
