package informer

import (
	"errors"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// abandonAfter is how long the end of a run waits for a transform.
const abandonAfter = 100 * time.Millisecond

// reading reads all sources, with a goroutine and a sink for each.
type reading struct {
	core  *core
	sinks []*informerSink
	group sync.WaitGroup // goroutines that certainly end with the run
	// ended has a channel for each source, closed when its goroutine has ended. It is used if there
	// is a transform, which may not return; otherwise group counts the goroutines.
	ended []chan struct{}
}

func (c *core) newReading() *reading {
	r := &reading{core: c}
	for i := range c.sources {
		r.sinks = append(r.sinks, newInformerSink(c, uint16(i))) //nolint:gosec // at most maxSources
		if c.options.Transform != nil {
			r.ended = append(r.ended, make(chan struct{}))
		}
	}
	return r
}

// begin begins to read all sources.
func (r *reading) begin() {
	c := r.core
	if p := c.packing; p != nil {
		r.group.Go(func() {
			c.run.Within(func() { p.tend(c.run.Context, c.writer) })
		})
	}
	for i, sink := range r.sinks {
		end := r.group.Done
		if r.ended != nil {
			end = func() { close(r.ended[i]) }
		} else {
			r.group.Add(1)
		}
		go func() {
			defer end()
			c.run.Within(func() { c.mirror(sink) })
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
		r.core.run.Handlers.Go(func() {
			r.core.run.Within(func() { r.core.observe(&TransformStuckError{Key: key}) })
		})
	}
	return stuck
}

// mirror mirrors one source into a sink until the run ends.
func (c *core) mirror(sink *informerSink) {
	if err := c.askShare(); err != nil {
		c.exit(err)
		return
	}
	r := c.reflector(sink)
	c.reflectors[sink.source].Store(r)
	switch err := r.Run(c.run.Context); {
	case errors.Is(err, ErrExited):
		c.exit(err)
	case err != nil:
		c.observe(reflector.Failed{Operation: reflector.OpList, Err: err})
	}
}

// reflector makes the reflector of one source.
func (c *core) reflector(sink *informerSink) *reflector.Reflector {
	return reflector.New(c.sources[sink.source], sink, reflector.Options{
		Name:            c.options.Name,
		Type:            c.objects.watched(),
		Check:           c.objects.fits(),
		Expect:          c.objects.kind,
		PageSize:        c.options.PageSize,
		MinWatchTimeout: c.options.MinWatchTimeout,
		StreamPatience:  c.options.StreamPatience,
		ListPatience:    c.options.ListPatience,
		Share:           c.share.Load(),
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
