// Package measure holds the measurements of one informer that is inspected: the time that handlers take,
// the age of events, the last events, a history, and the memory of the objects.
//
// Package informer makes an [Inspection] when somebody inspects an informer for the first time. A goroutine
// of the run ticks each second: it marks the end of the log ([Inspection.Tick]), weighs some of the
// objects ([Weighing]), and adds a [Moment] to the history now and then. The write sections of the store
// note their events ([RecentEvents]). Each handler has a [Stopwatch].
//
// Readers need neither the store's lock nor a handler's: a user's function that is stuck does not hold
// them up.
package measure
