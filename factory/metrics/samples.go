package metrics

import (
	dto "github.com/prometheus/client_model/go"

	"github.com/tidemark-k8s/tidemark/factory/readiness"
)

// samples returns the numbers of an informer with these labels. Failures that have never occurred
// are left out, because the duration of a scrape grows with the number of samples.
func (f *figures) samples(labels []*dto.LabelPair) []sample {
	all := make([]sample, 0, 48+5*len(f.handlers))
	add := func(s *series, value float64) { all = append(all, sample{series: s, labels: labels, value: value}) }
	addWith := func(s *series, label string, value float64) {
		all = append(all, sample{series: s, labels: with(labels, s.label, label), value: value})
	}

	add(objects, float64(f.objects))
	addWith(memory, "objects", float64(f.objectBytes))
	addWith(memory, "engine", float64(f.engineBytes))
	if f.storage.Budget != nil {
		addWith(memory, "packed", float64(f.packedBytes))
		addWith(memory, "decoded", float64(f.decodedBytes))
		add(pinned, float64(f.storage.Pinned))
		add(decodes, float64(f.storage.Decodes))
	}
	for _, c := range readiness.Conditions {
		if f.conditions[c] {
			addWith(condition, string(c), 1)
		}
	}
	add(synced, number(f.synced))
	add(watching, number(f.watching))
	add(staleness, f.staleness.Seconds())
	add(syncTook, f.syncTook.Seconds())
	add(quarantined, float64(f.quarantined))
	add(unindexed, float64(f.unindexed))

	addWith(fullStates, "list", float64(f.lists))
	addWith(fullStates, "stream", float64(f.streams))
	for c, n := range f.relists {
		addWith(relists, string(c), float64(n))
	}
	add(watches, float64(f.watches))
	for c, n := range f.errors {
		addWith(failures, string(c), float64(n))
	}
	add(retries, float64(f.retries))
	add(waited, f.waited.Seconds())
	addWith(events, "added", float64(f.added))
	addWith(events, "updated", float64(f.updated))
	addWith(events, "deleted", float64(f.deleted))
	add(bookmarks, float64(f.bookmarks))
	add(leftOut, float64(f.leftOut))
	add(shared, float64(f.shared))
	if w := f.ownWrites; w.Linked {
		addWith(ownWrites, "shown", float64(w.Shown))
		addWith(ownWrites, "outside", float64(w.Outside))
		addWith(ownWrites, "waiting", float64(w.Waiting))
		addWith(ownWrites, "doubtful", float64(w.Doubtful))
		add(pending, float64(w.Pending))
		add(ghosts, float64(w.Ghosts))
	}
	if f.shard.Share.Field() != 0 {
		add(foreign, float64(f.shard.Foreign))
	}
	if f.shard.Server != "" {
		add(filters, number(f.shard.Server == "filters"))
	}
	all = append(all, f.decoding.sample(decoding, labels))

	for i := range f.handlers {
		all = f.handlers[i].samples(all, labels)
	}
	return all
}

// samples appends the numbers of a handler. Its series share their labels.
func (h *handlerFigures) samples(all []sample, labels []*dto.LabelPair) []sample {
	labels = with(labels, told.label, h.name)
	all = append(all,
		sample{series: told, labels: labels, value: float64(h.told)},
		sample{series: backlog, labels: labels, value: float64(h.backlog)},
		sample{series: lag, labels: labels, value: h.lag.Seconds()},
		h.calls.sample(handling, labels),
	)
	if h.failures > 0 {
		all = append(all, sample{series: handlerBad, labels: labels, value: float64(h.failures)})
	}
	return all
}

// sample returns the durations as a summary without quantiles.
func (t timed) sample(s *series, labels []*dto.LabelPair) sample {
	return sample{series: s, labels: labels, value: t.took.Seconds(), count: t.count}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
