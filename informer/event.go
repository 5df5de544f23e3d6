package informer

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Event is one observable fact about an informer, handed to [Options].Observe.
// It is one of the reflector's events, or one of those of this package:
// *[QuarantineError], *[SharedValueError], *[TransformStuckError], *[indexer.IndexError],
// [HandlerPanicked], [HandlerExited], [HandlerLagging].
type Event any

// HandlerPanicked reports that a handler panicked on a change, which it will
// not be told again.
type HandlerPanicked struct {
	Handler string
	Value   any
}

// HandlerExited reports that a handler ended its goroutine (runtime.Goexit, as
// t.FailNow of a test does) on a change, which it will not be told again. It is told
// the rest on another goroutine.
type HandlerExited struct{ Handler string }

// HandlerLagging reports that the backlog of a handler has grown above
// [HandlerOptions].MaxBacklog.
type HandlerLagging struct {
	Handler string
	Backlog int
}

// LogEvents returns the observer of an informer whose user sets none; an observer
// that replaces it may call it. It logs what an operator has to know and, at
// higher verbosity, everything else. It writes at most 100 lines a minute about
// single objects.
func LogEvents(log klog.Logger, name string) func(Event) {
	log = log.WithName("tidemark").WithValues("informer", name)
	single := limited(log)
	return func(e Event) {
		switch e := e.(type) {
		case reflector.Failed:
			if apierrors.IsResourceExpired(e.Err) || apierrors.IsGone(e.Err) { // all in a day's work
				log.V(2).Info("Version expired, listing anew", "operation", e.Operation, "err", e.Err)
				return
			}
			log.Error(e.Err, "Request failed", "operation", e.Operation, "attempt", e.Attempt)
		case reflector.Skipped:
			single(e.Err, "Object left out")
		case reflector.HistoryWentBack:
			log.Info("The server's history went back, listing anew", "from", cut(e.From), "to", cut(e.To))
		case *QuarantineError:
			single(e, "Object quarantined")
		case *SharedValueError:
			log.Error(e, "Cached objects were changed; listing anew, with nothing shared")
		case *indexer.IndexError:
			single(e, "Object left out of an index")
		case *TransformStuckError:
			log.Error(e, "The informer has stopped without waiting for its transform")
		case HandlerPanicked: // utilruntime logs it
		case HandlerExited:
			log.Error(nil, "The handler has ended its goroutine; it is told what follows on another one", "handler", e.Handler)
		case HandlerLagging:
			log.Info("The handler lags", "handler", e.Handler, "backlog", e.Backlog)
		default:
			log.V(4).Info("Event", "kind", e)
		}
	}
}
