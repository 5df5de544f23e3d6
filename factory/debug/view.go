package debug

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// viewOf returns the page's view of an informer. It is a pure function of its arguments.
func viewOf(of subject, s informer.Status, f figures, now time.Time) shownInformer {
	i := shownInformer{
		ID: of.id, Name: of.name,
		Synced: s.Synced, SyncTook: s.SyncTook.Seconds(), WatchingSince: s.WatchingSince,
		Confirmed: s.Confirmed, LastEvent: s.LastEvent, Staleness: s.Staleness.Seconds(), Version: printable(s.Version),
		Progress: progress(s.Progress, now), Objects: s.Objects, Quarantined: s.Quarantined, Unindexed: s.Unindexed,
		LeftOut: s.LeftOut, Memory: memory(f.memory), Relists: s.Relists, Causes: counts(s.Totals.Relists), Classes: counts(s.Totals.Errors),
		Totals: totals(s), Handlers: handlers(of, s.Handlers, f.handlers, now), Errors: recentErrors(of, s),
		OwnWrites: ownWrites(s.OwnWrites), Shard: share(s.Shard), History: history(f.history, now), Details: inDetail(of, f.detail),
	}
	i.Packed = packed(s.Storage, i.History)
	for _, note := range s.Notes {
		note, _, _ = strings.Cut(note, ": ") // the rest may be the text of an error, with values of objects
		i.Notes = append(i.Notes, oneLine(note))
	}
	i.Findings, i.State = examine(of, s, i.Handlers), stateHealthy
	if len(i.Findings) > 0 {
		i.State = i.Findings[0].State
	}
	return i
}

func progress(p informer.Progress, now time.Time) *shownProgress {
	if p.Since.IsZero() {
		return nil
	}
	shown := &shownProgress{Since: p.Since, Objects: p.Objects, Bytes: p.Bytes}
	if p.Remaining >= 0 {
		shown.Total = int64(p.Objects) + p.Remaining
	}
	if took := now.Sub(p.Since).Seconds(); took > 0 {
		shown.Rate = float64(p.Objects) / took
	}
	return shown
}

func ownWrites(w informer.OwnWrites) *shownOwnWrites {
	if !w.Linked {
		return nil
	}
	return &shownOwnWrites{w.Shown, w.Outside, w.Waiting, w.Doubtful, w.Ghosts, w.Pending}
}

func share(s informer.ShardStatus) *shownShard {
	if s.Share.Field() == 0 {
		return nil
	}
	shown := &shownShard{Share: s.Share.String(), Foreign: s.Foreign}
	if s.Server != "" {
		shown.Server = "the server " + s.Server
	}
	return shown
}

func memory(m informer.Memory) *shownMemory {
	if m.At.IsZero() {
		return nil
	}
	return &shownMemory{m.At, m.Objects, m.Engine}
}

func packed(s informer.StorageStatus, history []shownMoment) *shownPacked {
	if s.Budget == nil {
		return nil
	}
	shown := &shownPacked{Packed: s.Packed, Decoded: s.Decoded, Budget: s.Budget.Limit(), Pinned: s.Pinned}
	if len(history) > 0 {
		shown.Decodes = history[len(history)-1].Decodes
	}
	return shown
}

// counts returns the entries of a map, the largest count first.
func counts[K ~string](of map[K]int) []count {
	var all []count
	for _, k := range slices.Sorted(maps.Keys(of)) {
		all = append(all, count{string(k), of[k]})
	}
	slices.SortStableFunc(all, func(a, b count) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

func totals(s informer.Status) shownTotals {
	t := s.Totals
	return shownTotals{t.Lists, t.Streams, t.Watches, s.Errors, t.Added, t.Updated, t.Deleted, t.Bookmarks, t.Shared}
}

// handlers joins the status of each handler with its measurements. A handler added between the two calls has
// none.
func handlers(of subject, statuses []informer.HandlerStatus, measured []informer.HandlerMeasures, now time.Time) []shownHandler {
	var all []shownHandler
	next := 0
	for _, s := range statuses {
		h := shownHandler{Name: printable(s.Name), Synced: s.Synced, Backlog: s.Backlog, Lagging: show.Lags(s, 0), Delivered: s.Delivered, Failures: s.Failures}
		if i := slices.IndexFunc(measured[next:], func(m informer.HandlerMeasures) bool { return m.Name == s.Name }); i >= 0 {
			h.fill(of, measured[next+i], now)
			next += i + 1
		}
		all = append(all, h)
	}
	return all
}

// slowCall is the shortest duration of a call that is shown as slow.
const slowCall = time.Millisecond

func (h *shownHandler) fill(of subject, m informer.HandlerMeasures, now time.Time) {
	h.Lag = m.Lag.Seconds()
	if m.Sampled > 0 {
		h.Mean = m.Took.Seconds() / float64(m.Sampled)
	}
	if !m.Calling.IsZero() {
		h.Calling = max(0, now.Sub(m.Calling).Seconds())
	}
	for _, slow := range m.Slowest {
		if slow.Took < slowCall {
			break
		}
		h.Slowest = append(h.Slowest, shownCall{of.key(slow.Key), slow.At, slow.Took.Seconds()})
	}
}

// recentErrors returns the last errors, the newest first.
func recentErrors(of subject, s informer.Status) []shownError {
	var all []shownError
	for _, e := range slices.Backward(s.RecentErrors) {
		all = append(all, shownError{e.At, printable(string(e.Class)), of.errorText(e.Class, e.Err)})
	}
	return all
}

// window is how far back the page shows the history.
const window = 15 * time.Minute

// history turns counts into rates. It leaves out the first moment, which only starts the first interval.
func history(moments []informer.Moment, now time.Time) []shownMoment {
	var all []shownMoment
	for n := 1; n < len(moments); n++ {
		m, took := moments[n], moments[n].At.Sub(moments[n-1].At)
		if now.Sub(m.At) > window || took <= 0 {
			continue
		}
		all = append(all, shownMoment{
			At: m.At, Rate: float64(m.Events) / took.Seconds(), Decodes: float64(m.Decodes) / took.Seconds(), Lag: m.Lag.Seconds(),
			Staleness: m.Staleness.Seconds(), Objects: m.Objects, Bytes: m.Bytes,
		})
	}
	return all
}

func inDetail(of subject, d *details) *shownDetails {
	if d == nil {
		return nil
	}
	shown := &shownDetails{Indexes: indexes(d.indexes), Labels: indexes(d.labels)}
	for _, q := range d.quarantined {
		shown.Quarantined = append(shown.Quarantined, shownQuarantine{of.key(q.Key), q.Since, of.quarantineText(q.Err)})
	}
	for _, e := range slices.Backward(d.recent) {
		shown.Recent = append(shown.Recent, shownEvent{e.At, e.Kind.String(), of.key(e.Key), printable(e.Version)})
	}
	return shown
}

func indexes(of []indexer.IndexSize) []shownIndex {
	var all []shownIndex
	for _, i := range of {
		all = append(all, shownIndex{printable(i.Name), i.Namespaced, i.Values, i.Entries})
	}
	return all
}
