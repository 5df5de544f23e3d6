package informer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// abandonAfter is how long the end of a run waits for a transform.
const abandonAfter = 100 * time.Millisecond

// reading reads all sources in one run, with a goroutine and a sink for each.
type reading struct {
	core  *core
	run   *run
	sinks []*informerSink
	group sync.WaitGroup // goroutines that certainly end with the run
	// ended has a channel for each source, closed when its goroutine has ended. It is used if there
	// is a transform, which may not return; otherwise group counts the goroutines.
	ended []chan struct{}
}

func (c *core) newReading(run *run) *reading {
	r := &reading{core: c, run: run}
	if run.options.ReuseNothing {
		c.values.Forget() // a program may have changed its values, too
	}
	for i := range c.sources {
		r.sinks = append(r.sinks, newInformerSink(c, run, uint16(i))) //nolint:gosec // at most maxSources
		if c.options.Transform != nil {
			r.ended = append(r.ended, make(chan struct{}))
		}
	}
	return r
}

// begin begins to read all sources.
func (r *reading) begin() {
	if p := r.core.packing; p != nil {
		r.group.Go(func() {
			r.run.Within(func() { p.tend(r.run.Context, r.core.writer) })
		})
	}
	for i, sink := range r.sinks {
		version, how := r.core.resume(sink)
		r.core.followed[i].Store(false)
		end := r.group.Done
		if r.ended != nil {
			end = func() { close(r.ended[i]) }
		} else {
			r.group.Add(1)
		}
		go func() {
			defer end()
			r.run.Within(func() { r.core.mirror(sink, version, how) })
		}()
	}
}

// wait waits for the end of reading. It abandons a source whose transform does not return.
func (r *reading) wait() {
	r.group.Wait()
	if r.ended == nil {
		return
	}
	late := make(chan struct{})
	patience := time.AfterFunc(abandonAfter, func() { close(late) })
	defer patience.Stop()
	for i, sink := range r.sinks {
		select {
		case <-r.ended[i]:
		case <-late:
			if r.abandon(sink) {
				continue
			}
			if !closed(sink.abandoned) {
				<-r.ended[i] // soon: no transform begins any more
			}
		}
		select {
		case sink.turn <- struct{}{}: // nobody else prepares an object any more
		case <-late:
			r.abandon(sink)
		}
	}
}

// abandon gives up a sink whose transform is running, and reports that.
func (r *reading) abandon(sink *informerSink) (stuck bool) {
	key, stuck := sink.abandon()
	if stuck {
		r.run.Handlers.Go(func() {
			r.run.Within(func() { r.core.observe(&TransformStuckError{Key: key}) })
		})
	}
	return stuck
}

// noteDropped is called when nothing of the run moves any more. The sources have sent more than the
// store has: the rest is dropped with the run, and the next run must not go on behind a full state
// that was dropped. If the stored objects must not be trusted, the next run has to know, as after a
// user's function has ended the run.
func (r *reading) noteDropped() {
	c := r.core
	drop := func(dropped []deltafifo.Delta) {
		for i := range dropped {
			switch d := &dropped[i]; d.Op {
			case deltafifo.Begin:
				c.states[d.Source].begin(d)
			case deltafifo.Commit:
				c.followed[d.Source].Store(false)
			case deltafifo.Answered:
				c.dropAnswer(d)
			}
		}
	}
	drop(c.batch)
	r.run.queue.Close()
	rest, _ := r.run.queue.Drain(context.Background()) // closed: it does not wait
	drop(rest)
	for _, sink := range r.sinks {
		p := &c.states[sink.source]
		p.reuseNothing = p.reuseNothing || sink.reuseNothing.Load() || r.run.exitError() != nil
	}
}

// mirror mirrors one source into a sink, from a version on, until the run ends.
func (c *core) mirror(sink *informerSink, version string, how reflector.Resume) {
	if err := c.unreadable(sink.run); err != nil {
		sink.run.Exit(err)
		return
	}
	r := c.reflector(sink, version, how)
	if sink.fill != nil && sink.writeFill() != nil {
		return // the run has ended
	}
	c.reflectors[sink.source].Store(r)
	err := r.Run(sink.run.Context)
	if sink.abandoned == nil || !closed(sink.abandoned) {
		c.followed[sink.source].Store(r.Followed())
	}
	switch {
	case errors.Is(err, ErrExited):
		sink.run.Exit(err)
	case err != nil:
		c.observe(reflector.Failed{Operation: reflector.OpList, Err: err})
	}
}

// reflector makes the reflector of one source.
func (c *core) reflector(sink *informerSink, version string, how reflector.Resume) *reflector.Reflector {
	return reflector.New(c.sources[sink.source], sink, reflector.Options{
		Name:            c.options.Name,
		Type:            c.objects.watched(),
		Check:           c.objects.fits(),
		Expect:          c.objects.kind,
		PageSize:        c.options.PageSize,
		MinWatchTimeout: c.options.MinWatchTimeout,
		StreamPatience:  c.options.StreamPatience,
		ListPatience:    c.options.ListPatience,
		Version:         version,
		Resume:          how,
		Share:           sink.run.share,
		Rand:            c.options.Rand,
		Decoding:        c.options.Decoding,
		DecodeTimes:     &c.decodeTimes,
		Observe:         sink.observe,
	})
}

// observe takes note of an event of the reflector, and passes it on.
func (s *informerSink) observe(e reflector.Event) {
	if closed(s.abandoned) {
		return
	}
	s.core.status.reflected(int(s.source), e)
	switch e.(type) {
	case reflector.WatchStarted:
		s.core.versions.wake() // WaitFresh checks the watches, too
	case reflector.HistoryWentBack:
		s.reuseNothing.Store(true)
	}
	if u, ok := e.(reflector.Undecodable); ok {
		s.core.observe(&QuarantineError{Key: u.Key, Err: undecodable(u.Err)})
		return
	}
	s.core.observe(e)
}
