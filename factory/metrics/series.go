package metrics

import (
	"math"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

const prefix = "tidemark_informer_"

// baseLabels are on all series.
var baseLabels = []string{"group", "version", "resource", "scope"}

// series is a metric: a family of numbers with the same name.
type series struct {
	name, help string
	kind       prometheus.ValueType
	label      string // the label in addition to the base labels; empty for none
	desc       *prometheus.Desc
	join       func(a, b float64) float64 // of two informers with the same labels
}

// summaryValue is the kind of a summary without quantiles. Prometheus has a separate function for it.
const summaryValue prometheus.ValueType = 0

func newSeries(kind prometheus.ValueType, name, label, help string) *series {
	s := &series{name: prefix + name, help: help, kind: kind, label: label, join: sum}
	labels := slices.Clone(baseLabels)
	if label != "" {
		labels = append(labels, label)
	}
	s.desc = prometheus.NewDesc(s.name, help, labels, nil)
	all = append(all, s)
	return s
}

func sum(a, b float64) float64 { return a + b }

// joinedBy sets how the numbers of two informers with the same labels are joined. The default is the sum.
func (s *series) joinedBy(join func(a, b float64) float64) *series {
	s.join = join
	return s
}

func gauge(name, label, help string) *series {
	return newSeries(prometheus.GaugeValue, name, label, help)
}

func counter(name, label, help string) *series {
	return newSeries(prometheus.CounterValue, name, label, help)
}

func summary(name, label, help string) *series {
	return newSeries(summaryValue, name, label, help)
}

// all are the metrics, in the order of the declarations below.
var all []*series

var (
	objects     = gauge("objects", "", "Objects in the store.")
	memory      = gauge("memory_bytes", "part", "Heap bytes of the informer, by part: objects that are held decoded; packed objects; packed objects that the budget also keeps decoded; the engine's tables and queues. Objects are measured about once a minute.")
	pinned      = gauge("pinned_objects", "", "Objects of a packed store that always stay decoded, because they cannot be packed.")
	decodes     = counter("decodes_total", "", "Packed objects that were decoded for readers and handlers.")
	condition   = gauge("condition", "condition", "1 while the informer has a problem, by condition.").joinedBy(math.Max)
	synced      = gauge("synced", "", "1 once the store has been synced.").joinedBy(math.Min)
	watching    = gauge("watching", "", "1 while all sources are being watched.").joinedBy(math.Min)
	staleness   = gauge("staleness_seconds", "", "Time since the server last sent anything. Up to a minute is normal if no objects change.").joinedBy(math.Max)
	syncTook    = gauge("sync_duration_seconds", "", "Time from the start until the store was synced; 0 before that.").joinedBy(math.Max)
	quarantined = gauge("quarantined_objects", "", "Objects held back because they cannot be decoded or transformed.")
	unindexed   = gauge("unindexed_objects", "", "Objects missing from an index because its function fails, counted for each index.")

	fullStates = counter("full_states_total", "method", "Full states read, by method.")
	relists    = counter("relists_total", "cause", "Full states read, by cause.")
	watches    = counter("watches_total", "", "Watches accepted by the server.")
	failures   = counter("errors_total", "class", "Failed lists and watches, by the class of the error.")
	retries    = counter("retries_total", "", "Requests delayed after a failure.")
	waited     = counter("backoff_seconds_total", "", "Time for which requests were delayed after failures.")
	events     = counter("events_total", "kind", "Changes delivered to handlers; each counts once, whatever the number of handlers.")
	bookmarks  = counter("bookmarks_total", "", "Bookmarks received.")
	leftOut    = counter("left_out_objects_total", "", "Objects left out because they are not of the informer's type.")
	shared     = counter("shared_values_total", "", "Values not stored because another object has an equal one.")
	ownWrites  = counter("own_writes_total", "result", "Writes of this program, by result: shown before the watch delivered them; outside of what the informer reads; waiting for the watch; doubtful.")
	pending    = gauge("own_writes_pending", "", "Objects that this program has written and the watch has not confirmed yet.")
	ghosts     = counter("own_write_ghosts_total", "", "Objects shown after a write of this program that no watch or list has confirmed.")
	foreign    = counter("foreign_total", "", "Objects and events outside of the informer's share that the server sent and the informer dropped.")
	filters    = gauge("server_filters", "", "1 if the server leaves out objects outside of the informer's share, 0 if it sends everything.").joinedBy(math.Min)
	decoding   = summary("decode_duration_seconds", "", "Time to decode an object; 1 in 64 is timed.")

	delivered  = counter("handler_events_total", "handler", "Events delivered to the handler, including resyncs and the initial state.")
	backlog    = gauge("handler_backlog_events", "handler", "Events waiting for the handler.")
	lag        = gauge("handler_lag_seconds", "handler", "Age of the oldest event waiting for the handler.").joinedBy(math.Max)
	handling   = summary("handler_duration_seconds", "handler", "Duration of the handler's calls.")
	handlerBad = counter("handler_failures_total", "handler", "Handler calls that panicked.")
)
