package reflector

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// failure returns the error for some words of a transcript.
func failure(ctx context.Context, words []string) error {
	switch words[0] {
	case "expired":
		return apierrors.NewResourceExpired("too old")
	case "gone":
		return apierrors.NewGenericServerResponse(http.StatusGone, "list", schema.GroupResource{Resource: "pods"}, "", "gone", 0, false)
	case "toolarge":
		err := apierrors.NewTimeoutError("not yet", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return err
	case "refused":
		return &url.Error{Op: "Get", URL: "https://server", Err: syscall.ECONNREFUSED}
	case "broken":
		return &url.Error{Op: "Get", URL: "https://server", Err: io.EOF}
	case "unavailable":
		return apierrors.NewServiceUnavailable("down")
	case "busy":
		seconds := 0
		if len(words) > 1 {
			_, _ = fmt.Sscan(words[1], &seconds)
		}
		return apierrors.NewTooManyRequests("busy", seconds)
	case "forbidden":
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
	case "notfound":
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "")
	case "invalid":
		return apierrors.NewBadRequest("sendInitialEvents is forbidden")
	case "internal":
		return apierrors.NewInternalError(context.DeadlineExceeded)
	case "nothing":
		return nil
	case "panics":
		panic("boom")
	default:
		panic(fmt.Sprint("no such answer: ", words))
	}
}

// list reads "5 more=token remaining=7 a@3 ns/b@4". Without objects the items are
// nil, as a typed client leaves them with {}; with items=none they are there, and none.
func list(words []string) runtime.Object {
	l := &metav1.PartialObjectMetadataList{}
	if len(words) > 0 && !strings.ContainsAny(words[0], "=@") {
		l.ResourceVersion, words = words[0], words[1:]
	}
	for _, word := range words {
		if token, ok := strings.CutPrefix(word, "more="); ok {
			l.Continue = token
		} else if remaining, ok := strings.CutPrefix(word, "remaining="); ok {
			l.RemainingItemCount = new(int64)
			_, _ = fmt.Sscan(remaining, l.RemainingItemCount)
		} else if word == "items=none" {
			l.Items = []partialObject{}
		} else {
			l.Items = append(l.Items, *parse(word))
		}
	}
	return l
}

// parse reads "namespace/name@version".
func parse(word string) *partialObject {
	o := &partialObject{}
	name, version, _ := strings.Cut(word, "@")
	if namespace, rest, ok := strings.Cut(name, "/"); ok {
		o.Namespace, name = namespace, rest
	}
	o.Name, o.ResourceVersion = name, version
	return o
}

// player is a watch that plays steps: events, pauses and its own end.
type player struct {
	rig    *rig
	events chan watch.Event
	done   chan struct{}
	once   sync.Once
}

func (r *rig) play(steps []string) *player {
	p := &player{rig: r, events: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(p.events)
		for _, step := range steps {
			if step = strings.TrimSpace(step); step == "closes" || !p.play(step) {
				return
			}
		}
		<-p.done
	}()
	return p
}

func (p *player) play(step string) bool {
	if pause, err := time.ParseDuration(step); err == nil {
		select {
		case <-p.done:
			return false
		case <-time.After(pause):
			return true
		}
	}
	select {
	case <-p.done:
		return false
	case p.events <- event(strings.Fields(step)):
		return true
	}
}

func event(words []string) watch.Event {
	kind, word := words[0], words[len(words)-1]
	switch kind {
	case "end", "noend":
		o := parse("@" + strings.TrimPrefix(word, kind)) // without a version, word is kind
		o.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: fmt.Sprint(kind == "end")}
		return watch.Event{Type: watch.Bookmark, Object: o}
	case "bookmark":
		return watch.Event{Type: watch.Bookmark, Object: parse("@" + word)}
	case "error":
		status := failure(context.Background(), words[1:]).(apierrors.APIStatus).Status()
		return watch.Event{Type: watch.Error, Object: &status}
	case "alien":
		return watch.Event{Type: watch.Modified, Object: &metav1.Status{}}
	case "strange":
		return watch.Event{Type: "STRANGE", Object: parse(word)}
	case "blank":
		return watch.Event{Type: watch.Bookmark}
	default:
		return watch.Event{Type: watch.EventType(strings.ToUpper(kind)), Object: parse(word)}
	}
}

func (p *player) ResultChan() <-chan watch.Event { return p.events }

func (p *player) Stop() {
	p.once.Do(func() {
		close(p.done)
		p.rig.mu.Lock()
		p.rig.open--
		p.rig.mu.Unlock()
	})
}

func describe(e Event) string {
	switch e := e.(type) {
	case Asked:
		return fmt.Sprintf("  asks for a %s from %q (%s)", e.Operation, e.Version, cmp.Or(string(e.Cause), "to follow"))
	case Paged:
		return fmt.Sprintf("  paged %s: %d, %d more", e.Operation, e.Objects, e.Remaining)
	case Listed:
		return fmt.Sprintf("  listed %s: %d at %q, took %v", e.Operation, e.Objects, e.Version, e.Took)
	case WatchStarted:
		return fmt.Sprintf("  watch started at %q", e.Version)
	case WatchEnded:
		return fmt.Sprintf("  watch ended at %q, %d events, took %v: %s", e.Version, e.Events, e.Took, e.Reason)
	case Failed:
		first, _, _ := strings.Cut(e.Err.Error(), "\n") // a stack may follow
		return fmt.Sprintf("  failure %d of %s (%s): %s", e.Attempt, e.Operation, e.Class, first)
	case BackedOff:
		return fmt.Sprintf("  back-off %d: %v", e.Attempt, e.Delay)
	case StreamRefused:
		return fmt.Sprintf("  stream refused for %v: %s", e.Retry, e.Reason)
	case SelectorRefused:
		return fmt.Sprintf("  selector refused for %v: %s", e.Retry, e.Reason)
	case HistoryWentBack:
		return fmt.Sprintf("  history went back from %q to %q", e.From, e.To)
	case ClientDecoded:
		return "  the client decodes"
	case HistoryUnknown:
		return "  the history is unknown"
	case NotServed:
		return fmt.Sprintf("  not served: %v", e.Err)
	case Served:
		return fmt.Sprintf("  served, after %v", e.Took)
	case Skipped:
		return fmt.Sprintf("  skipped %v", e.Err)
	default:
		panic(fmt.Sprintf("an unknown event: %T", e))
	}
}
