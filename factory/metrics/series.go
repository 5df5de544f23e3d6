package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

const prefix = "tidemark_informer_"

// baseLabels are on all series.
var baseLabels = []string{"group", "version", "resource", "scope"}

// series is one metric: a family of numbers with the same name.
type series struct {
	name, help string
	kind       dto.MetricType
	label      string // that is on it beside the base labels; empty for none
	desc       *prometheus.Desc
}

func newSeries(kind dto.MetricType, name, label, help string) *series {
	s := &series{name: prefix + name, help: help, kind: kind, label: label}
	labels := slices.Clone(baseLabels)
	if label != "" {
		labels = append(labels, label)
	}
	s.desc = prometheus.NewDesc(s.name, help, labels, nil)
	all = append(all, s)
	return s
}

func gauge(name, label, help string) *series {
	return newSeries(dto.MetricType_GAUGE, name, label, help)
}

func counter(name, label, help string) *series {
	return newSeries(dto.MetricType_COUNTER, name, label, help)
}

func summary(name, label, help string) *series {
	return newSeries(dto.MetricType_SUMMARY, name, label, help)
}

// all are the metrics, in the order in which they are written down here.
var all []*series

var (
	objects     = gauge("objects", "", "Objects in the store.")
	memory      = gauge("memory_bytes", "part", "Bytes of the heap that the informer holds: the objects, sampled about once a minute, and the engine's tables and queues.")
	condition   = gauge("condition", "condition", "1 while something is wrong with the informer, by what that is.")
	synced      = gauge("synced", "", "1 once the store has been complete.")
	watching    = gauge("watching", "", "1 while all sources are being watched.")
	staleness   = gauge("staleness_seconds", "", "Time since the server said anything at all. Up to a minute is normal where nothing changes.")
	syncTook    = gauge("sync_duration_seconds", "", "Time from the start until the store was complete; 0 before that.")
	quarantined = gauge("quarantined_objects", "", "Objects that cannot be decoded or transformed, and are held back.")
	unindexed   = gauge("unindexed_objects", "", "Objects that an index function fails on, counted for each index.")

	fullStates = counter("full_states_total", "method", "Full states that were read, by how the server sent them.")
	relists    = counter("relists_total", "cause", "Full states that were read, by why.")
	watches    = counter("watches_total", "", "Watches that the server has accepted.")
	failures   = counter("errors_total", "class", "Failed lists and watches, by the class of the error.")
	retries    = counter("retries_total", "", "Requests that were put off after a failure.")
	waited     = counter("backoff_seconds_total", "", "Time for which requests were put off after failures.")
	events     = counter("events_total", "kind", "Changes that were told to the handlers, each once however many handlers there are.")
	bookmarks  = counter("bookmarks_total", "", "Bookmarks that came.")
	leftOut    = counter("left_out_objects_total", "", "Objects that were left out since they are not of the informer's type.")
	shared     = counter("shared_values_total", "", "Values that were not stored since another object has an equal one.")
	decoding   = summary("decode_duration_seconds", "", "Time to decode an object: 1 in 64 is timed.")

	told       = counter("handler_events_total", "handler", "Events that the handler was told, those of resyncs and of the initial state too.")
	backlog    = gauge("handler_backlog_events", "handler", "Events that wait for the handler.")
	lag        = gauge("handler_lag_seconds", "handler", "Age of the oldest event that waits for the handler.")
	handling   = summary("handler_duration_seconds", "handler", "Time that a call of the handler takes: all are timed, but of a handler that takes less than 4 µs 1 in 32.")
	handlerBad = counter("handler_failures_total", "handler", "Calls of the handler that panicked, or ended their goroutine.")
)
