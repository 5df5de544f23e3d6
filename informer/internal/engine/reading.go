package engine

import (
	"slices"
	"sync"

	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// reading reads all sources, with a goroutine and a sink for each.
type reading struct {
	core  *Core
	sinks []*Sink
	group sync.WaitGroup
}

func (c *Core) newReading() *reading {
	r := &reading{core: c}
	for i := range c.sources {
		r.sinks = append(r.sinks, newSink(c, uint16(i))) //nolint:gosec // at most maxSources
	}
	return r
}

// begin starts the goroutines that read the sources.
func (r *reading) begin() {
	c := r.core
	if p := c.packing; p != nil {
		r.group.Go(func() {
			c.run.Within(func() { p.report(c.run.Context) })
		})
	}
	for _, sink := range r.sinks {
		r.group.Go(func() {
			c.run.Within(func() { c.mirror(sink) })
		})
	}
}

// wait waits until no source is read any more.
func (r *reading) wait() {
	r.group.Wait()
	for _, sink := range r.sinks {
		sink.turn <- struct{}{} // no goroutine prepares objects any more
	}
}

// mirror mirrors one source into a sink until the run ends.
func (c *Core) mirror(sink *Sink) {
	source, err := c.sources[sink.source].get()
	if err == nil {
		err = c.askShare(source)
	}
	if err != nil {
		c.exit(err)
		return
	}
	if err := c.reflector(source, sink).Run(c.run.Context); err != nil {
		c.exit(err)
	}
}

// reflector makes the reflector of one source.
func (c *Core) reflector(source reflector.Source, sink *Sink) *reflector.Reflector {
	var share shard.Set
	if s := c.share.Load(); s != nil {
		share = *s
	}
	return reflector.New(source, sink, reflector.Options{
		Name:            c.options.Name,
		Type:            c.objects.watched(),
		Check:           c.objects.fits(),
		Expect:          c.objects.kind,
		PageSize:        c.options.PageSize,
		MinWatchTimeout: c.options.MinWatchTimeout,
		StreamPatience:  c.options.StreamPatience,
		ListPatience:    c.options.ListPatience,
		Share:           share,
		Rand:            c.options.Rand,
		Decoding:        c.decoding(),
		Observe:         sink.observe,
	})
}

// decoding returns the decoding options, with the fields that are dropped in place of a transform.
func (c *Core) decoding() reflector.Decoding {
	d := c.options.Decoding
	d.Drop = slices.Concat(d.Drop, c.drops)
	return d
}

// observe records an event of the reflector, and passes it on.
func (s *Sink) observe(e reflector.Event) {
	s.core.status.reflected(int(s.source), e)
	if _, ok := e.(reflector.WatchStarted); ok {
		s.core.versions.Wake() // WaitFresh also waits for the watches
	}
	if u, ok := e.(reflector.Undecodable); ok {
		s.core.observe(&QuarantineError{Key: u.Key, Err: undecodable(u.Err)})
		return
	}
	s.core.observe(e)
}
