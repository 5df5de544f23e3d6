// Package measure holds the measurements of an inspected informer: the time that handlers take, the age of
// events, the last events, a history, and the memory of the objects.
//
// Package engine makes an [Inspection] when an informer is first inspected. A goroutine of the run ticks each
// second. It marks the end of the log ([Inspection.Tick]), weighs some of the objects ([Weighing]), and
// periodically adds a [Moment] to the history. The write sections of the store note their events
// ([RecentEvents]). Each handler has a [Stopwatch].
//
// Readers take neither the store's lock nor a handler's, so a stuck callback does not delay them.
package measure
