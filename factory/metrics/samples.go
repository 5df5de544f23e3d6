package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-k8s/tidemark/factory/readiness"
	"github.com/tidemark-k8s/tidemark/informer"
)

// samples are the numbers of the informers with the same labels, which is usually a single informer.
type samples struct {
	labels   []string            // values of the base labels
	handlers map[string]struct{} // names of the handlers
	all      []sample
	places   map[place]int // positions in all
}

// place identifies a sample among those of the same informers.
type place struct {
	series *series
	label  string // the value of the series' own label
}

// sample is a number of a series.
type sample struct {
	place
	value float64 // for a summary, the sum
	count uint64  // for a summary only
}

func newSamples(id identity) *samples {
	r := id.resource
	return &samples{labels: []string{r.Group, r.Version, r.Resource, id.scope}, handlers: make(map[string]struct{}), places: make(map[place]int)}
}

// collect sends the samples.
func (s *samples) collect(to chan<- prometheus.Metric) {
	for _, one := range s.all {
		labels := s.labels
		if one.series.label != "" {
			labels = append(slices.Clip(labels), one.label)
		}
		to <- one.metric(labels)
	}
}

func (s sample) metric(labels []string) (m prometheus.Metric) {
	var err error
	if s.series.kind == summaryValue {
		m, err = prometheus.NewConstSummary(s.series.desc, s.count, s.value, nil, labels...)
	} else {
		m, err = prometheus.NewConstMetric(s.series.desc, s.series.kind, s.value, labels...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(s.series.desc, err)
	}
	return m
}

// measures are the measurements of an inspector.
type measures struct {
	memory   informer.Memory
	decoded  uint64        // the number of timed objects
	decoding time.Duration // altogether
	handlers []informer.HandlerMeasures
}

// addInformer adds the numbers of an informer. It leaves out failures that have not occurred, because the
// duration of a scrape grows with the number of samples.
func (s *samples) addInformer(i informer.Status, m measures) {
	s.addObjects(i, m.memory)
	for _, found := range readiness.Examine(i, readiness.Options{}) {
		s.add(condition, string(found.Condition), 1)
	}
	s.add(synced, "", number(i.Synced))
	s.add(watching, "", number(i.Watching))
	s.add(staleness, "", i.Staleness.Seconds())
	s.add(syncTook, "", i.SyncTook.Seconds())
	s.addTotals(i.Totals)
	if w := i.OwnWrites; w.Linked {
		s.add(ownWrites, "shown", float64(w.Shown))
		s.add(ownWrites, "outside", float64(w.Outside))
		s.add(ownWrites, "waiting", float64(w.Waiting))
		s.add(ownWrites, "doubtful", float64(w.Doubtful))
		s.add(pending, "", float64(w.Pending))
		s.add(ghosts, "", float64(w.Ghosts))
	}
	s.addTimed(decoding, "", m.decoding.Seconds(), m.decoded)
	s.addHandlers(i.Handlers, m.handlers)
}

func (s *samples) addObjects(i informer.Status, m informer.Memory) {
	s.add(objects, "", float64(i.Objects))
	s.add(quarantined, "", float64(i.Quarantined))
	s.add(unindexed, "", float64(i.Unindexed))
	s.add(leftOut, "", float64(i.LeftOut))
	s.add(memory, "objects", float64(m.Objects-m.Packed-m.Decoded))
	s.add(memory, "engine", float64(m.Engine))
	if i.Storage.Budget != nil {
		s.add(memory, "packed", float64(m.Packed))
		s.add(memory, "decoded", float64(m.Decoded))
		s.add(pinned, "", float64(i.Storage.Pinned))
		s.add(decodes, "", float64(i.Storage.Decodes))
	}
	if i.Shard.Share.Field() != 0 {
		s.add(foreign, "", float64(i.Shard.Foreign))
	}
	if i.Shard.Server != "" {
		s.add(filters, "", number(i.Shard.Server == "filters"))
	}
}

func (s *samples) addTotals(t informer.Totals) {
	s.add(fullStates, "list", float64(t.Lists))
	s.add(fullStates, "stream", float64(t.Streams))
	for cause, n := range t.Relists {
		s.add(relists, string(cause), float64(n))
	}
	s.add(watches, "", float64(t.Watches))
	for class, n := range t.Errors {
		s.add(failures, string(class), float64(n))
	}
	s.add(retries, "", float64(t.Waits))
	s.add(waited, "", t.Waited.Seconds())
	s.add(events, "added", float64(t.Added))
	s.add(events, "updated", float64(t.Updated))
	s.add(events, "deleted", float64(t.Deleted))
	s.add(bookmarks, "", float64(t.Bookmarks))
	s.add(shared, "", float64(t.Shared))
}

func (s *samples) addHandlers(handlers []informer.HandlerStatus, measured []informer.HandlerMeasures) {
	for _, h := range handlers {
		name := s.handler(h.Name)
		s.add(delivered, name, float64(h.Delivered))
		s.add(backlog, name, float64(h.Backlog))
		if h.Failures > 0 {
			s.add(handlerBad, name, float64(h.Failures))
		}
	}
	for _, h := range measured {
		name := s.handler(h.Name)
		s.add(lag, name, h.Lag.Seconds())
		s.addTimed(handling, name, h.Took.Seconds(), h.Sampled)
	}
}

// add adds a number, or joins it with the number of another informer.
func (s *samples) add(of *series, label string, value float64) { s.addTimed(of, label, value, 0) }

// addTimed is add for a summary.
func (s *samples) addTimed(of *series, label string, value float64, count uint64) {
	at := place{of, label}
	if i, known := s.places[at]; known {
		sum := &s.all[i]
		sum.value, sum.count = of.join(sum.value, value), sum.count+count
		return
	}
	s.places[at] = len(s.all)
	s.all = append(s.all, sample{at, value, count})
}

// handler returns the label of a handler: its name, or "other" if there are too many.
func (s *samples) handler(name string) string {
	name = label(name)
	if _, known := s.handlers[name]; !known && len(s.handlers) >= maxHandlers {
		name = other
	}
	s.handlers[name] = struct{}{}
	return name
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
