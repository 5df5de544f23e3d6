package engine

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// level is klog's verbosity, or levelError for lines that go to the error handlers.
type level int

const (
	levelError  level = -1
	levelInfo   level = 0 // for operators
	levelDetail level = 2 // explains the lines of levelInfo
	levelAll    level = 4
)

// logLine is a line of the log.
type logLine struct {
	level   level
	err     error
	message string
	values  []any // keys, the same in all lines, and values
	of      string
	single  bool // about a single object, so there may be many
	once    bool // written only once for an informer
}

// cause returns the cause of a line. One line a second for each cause is enough.
func (l *logLine) cause() string { return l.message + " " + l.of }

// lineOf returns the log line of an event, and false if there is none.
func lineOf(e Event) (logLine, bool) {
	switch e := e.(type) {
	case reflector.Event:
		return lineOfReflector(e), true
	case HandlerPanicked: // utilruntime logs the panic
		return logLine{}, false
	case *QuarantineError:
		return logLine{level: levelError, err: e, message: "Object quarantined", of: e.Key.String(), single: true}, true
	case *indexer.IndexError:
		return logLine{level: levelError, err: e, message: "Object left out of an index", of: e.Error(), single: true}, true
	case *StorageError:
		return logLine{level: levelError, err: e, message: "Object cannot be packed or read", of: e.Key.String(), single: true}, true
	case Ghost:
		return logLine{message: "The store showed an own write that the watch never delivered", values: []any{"object", e.Key, "version", cut(e.Version)}, of: e.Key.String(), single: true}, true
	}
	return logLine{level: levelAll, message: "Event", values: []any{"kind", e}, of: fmt.Sprintf("%T", e)}, true
}

// lineOfReflector is lineOf for events of a reflector.
func lineOfReflector(e reflector.Event) logLine {
	switch e := e.(type) {
	case reflector.Failed:
		return lineOfFailure(e)
	case reflector.NotServed:
		return logLine{level: levelError, err: e.Err, message: "The informer waits for its resource"}
	case reflector.Served:
		return logLine{message: "The server serves the resource", values: []any{"after", e.Took}}
	case reflector.Skipped:
		return logLine{level: levelError, err: e.Err, message: "Object left out", of: e.Err.Error(), single: true}
	case reflector.HistoryWentBack:
		return logLine{message: "The server's history went back, listing again", values: []any{"from", cut(e.From), "to", cut(e.To)}}
	case reflector.HistoryUnknown:
		return logLine{level: levelDetail, message: "Lists have no resourceVersion: the server's history is unknown"}
	case reflector.ClientDecoded:
		return logLine{message: "The client decodes objects that are then packed; reflector.Wire in its transport saves most of the CPU time", once: true}
	case reflector.StreamRefused:
		line := logLine{message: "The initial state is listed, not streamed", values: []any{"reason", e.Reason}, once: true}
		if e.Class == reflector.ErrorForbidden || e.Class == reflector.ErrorUnauthorized {
			line.level, line.once = levelDetail, false // the list shows whether it is allowed
		}
		return line
	case reflector.SelectorRefused:
		return logLine{message: "The server refuses the selector of the share; requesting all objects", values: []any{"reason", e.Reason, "retry", e.Retry}}
	}
	return logLine{level: levelAll, message: "Event", values: []any{"kind", e}, of: fmt.Sprintf("%T", e)}
}

// lineOfFailure returns the line of a failed request. Expected failures have levelDetail.
func lineOfFailure(e reflector.Failed) logLine {
	l := logLine{level: levelDetail, of: string(e.Operation) + " " + string(e.Class)}
	switch {
	case apierrors.IsResourceExpired(e.Err), apierrors.IsGone(e.Err):
		l.message, l.values = "Version expired, listing again", []any{"operation", e.Operation, "err", e.Err}
	case errors.Is(e.Err, reflector.ErrNotServed): // NotServed reports it once
		l.message, l.values = "The server does not serve the resource", []any{"operation", e.Operation, "err", e.Err}
	default:
		l.level, l.err, l.message = levelError, e.Err, "Request failed"
		l.values = []any{"operation", e.Operation, "class", e.Class, "attempt", e.Attempt}
	}
	return l
}
