package informer

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/report"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// lazyLogger is [LogEvents] made when there is something to log, as for most informers
// there never is. Safe for any goroutine.
type lazyLogger struct {
	mu    sync.Mutex
	ctx   context.Context
	write func(Event) // nil before the first event
}

// use sets the context of what is logged from now on.
func (l *lazyLogger) use(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.ctx, l.write = ctx, nil
}

func (l *lazyLogger) log(e Event, name string) {
	l.mu.Lock()
	if l.write == nil {
		l.write = LogEvents(l.ctx, name)
	}
	write := l.write
	l.mu.Unlock()
	write(e)
}

// LogEvents returns the observer of an informer whose user sets none; an observer
// that replaces it may call it. It writes to the context's logger (klog.FromContext) what
// an operator has to know and, at higher verbosity, everything else. Errors go through
// utilruntime.ErrorHandlers, with the context, as client-go's do. It writes at most 100
// lines a minute about single objects.
func LogEvents(ctx context.Context, name string) func(Event) {
	log := klog.FromContext(ctx).WithValues("informer", name)
	ctx = klog.NewContext(ctx, log)
	single := limited(ctx)
	var noStreams sync.Once
	return func(e Event) {
		switch e := e.(type) {
		case reflector.Failed:
			if apierrors.IsResourceExpired(e.Err) || apierrors.IsGone(e.Err) { // all in a day's work
				log.V(2).Info("Version expired, listing anew", "operation", e.Operation, "err", e.Err)
				return
			}
			if errors.Is(e.Err, reflector.ErrNotServed) { // told by NotServed, once
				log.V(2).Info("The server does not serve the resource", "operation", e.Operation, "err", e.Err)
				return
			}
			report.Error(ctx, e.Err, "Request failed", "operation", e.Operation, "attempt", e.Attempt)
		case reflector.NotServed:
			report.Error(ctx, e.Err, "The informer waits for its resource")
		case reflector.Served:
			log.Info("The server serves the resource", "after", e.Took)
		case reflector.Withdrawn:
			log.Info("The resource was taken away, and its objects with it")
		case reflector.Skipped:
			single(e.Err, "Object left out")
		case reflector.HistoryWentBack:
			log.Info("The server's history went back, listing anew", "from", cut(e.From), "to", cut(e.To))
		case reflector.HistoryUnknown:
			log.V(2).Info("Lists have no resourceVersion: the server's history is unknown")
		case reflector.StreamRefused:
			noStreams.Do(func() { log.Info("The initial state is listed, not streamed", "reason", e.Reason) })
		case *QuarantineError:
			single(e, "Object quarantined")
		case *indexer.IndexError:
			single(e, "Object left out of an index")
		case *SharedValueError:
			report.Error(ctx, e, "Cached objects were changed; listing anew, with nothing shared")
		case *TransformStuckError:
			report.Error(ctx, e, "The informer has stopped without waiting for its transform")
		case error:
			report.Error(ctx, e, "The informer is misused")
		case HandlerPanicked: // utilruntime logs it
		case HandlerExited:
			report.Error(ctx, nil, "The handler has ended its goroutine; it is told what follows on another one", "handler", e.Handler)
		case HandlerLagging:
			log.Info("The handler lags", "handler", e.Handler, "backlog", e.Backlog)
		default:
			log.V(4).Info("Event", "kind", e)
		}
	}
}
