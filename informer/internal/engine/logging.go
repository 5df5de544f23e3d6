package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/report"
)

// lazyLogger makes [LogEvents] at the first event, because most informers never log. It is safe for
// concurrent use. It calls the logger without a lock that use takes, because the logger may call the
// informer.
type lazyLogger struct {
	write atomic.Pointer[func() func(Event)]
}

// use sets the context for logging from now on.
func (l *lazyLogger) use(ctx context.Context, name string) {
	write := sync.OnceValue(func() func(Event) { return LogEvents(ctx, name) })
	l.write.Store(&write)
}

func (l *lazyLogger) log(e Event) { (*l.write.Load())()(e) }

// LogEvents returns the default observer of an informer. Package informer describes what it writes.
func LogEvents(ctx context.Context, name string) func(Event) {
	log := klog.FromContext(ctx).WithValues("informer", name)
	w := &lineWriter{ctx: klog.NewContext(ctx, log), log: log}
	return func(e Event) {
		if l, ok := lineOf(e); ok {
			w.write(l, time.Now())
		}
	}
}

// The messages about omitted lines.
const (
	floodMessage   = "Too many lines about single objects; suppressing them for a minute"
	floodedMessage = "Suppressed lines about single objects"
)

// lineWriter writes lines, unless there are too many. It is safe for concurrent use.
type lineWriter struct {
	ctx     context.Context
	log     klog.Logger
	objects limits.Flood
	causes  limits.Causes
	once    sync.Map // messages that are written only once, and have been
}

func (w *lineWriter) write(l logLine, now time.Time) {
	if l.level != levelError && !w.log.V(int(l.level)).Enabled() {
		return
	}
	if l.once {
		if _, written := w.once.LoadOrStore(l.message, true); !written {
			w.put(l)
		}
		return
	}
	repeated, writes := w.causes.Next(l.cause(), now)
	if !writes || l.single && !w.admits(now) {
		return
	}
	if repeated > 0 {
		l.values = append(l.values, "repeated", repeated)
	}
	w.put(l)
}

func (w *lineWriter) put(l logLine) {
	if l.level == levelError {
		report.Error(w.ctx, l.err, l.message, l.values...)
		return
	}
	w.log.V(int(l.level)).Info(l.message, l.values...)
}

// admits counts a line about a single object, because a list may cause one for each object. It also logs when
// lines are omitted, and their number.
func (w *lineWriter) admits(now time.Time) bool {
	missed, admitted, last := w.objects.Next(now)
	if missed > 0 {
		w.log.Info(floodedMessage, "lines", missed)
	}
	if last {
		w.log.Info(floodMessage, "lines", limits.MaxLines)
	}
	return admitted
}
