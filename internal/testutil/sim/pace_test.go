package sim_test

import (
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// The operations that look like success to the informer. It must not repeat its requests without a
// pause.
const (
	flapDefinition operation = "flap"   // the resource is served for moments, again and again for n seconds
	vanishingWatch operation = "vanish" // the next n watches send something and end with 404
)

// attempt is a stream, a watch, or a list without its later pages.
type attempt struct {
	run    time.Time // when the informer's run began
	at     time.Time
	lasted time.Duration // the duration of a watch
}

// An informer may send mostAttempts in any paceWindow. Watches that lasted longer than a second do not
// count (B54). Each run counts separately.
const (
	mostAttempts = 30
	paceWindow   = 30 * time.Second
)

// pace checks that no source gets more than one request per second over 30 s, regardless of its answers.
func pace(w *world) (problems []string) {
	if w.tenants { // the informers of tenants share their sources
		return nil
	}
	for _, s := range w.sources {
		s.mu.Lock()
		var window []*attempt
		for _, a := range s.attempts {
			if a.lasted > time.Second {
				continue
			}
			window = append(window, a)
			for window[0].run != a.run || a.at.Sub(window[0].at) >= paceWindow {
				window = window[1:]
			}
			if len(window) > mostAttempts {
				problems = append(problems, fmt.Sprintf("source %d got %d requests from %v on, within %v", s.number, len(window), window[0].at, a.at.Sub(window[0].at)))
				break
			}
		}
		s.mu.Unlock()
	}
	return problems
}

// flapDefinition repeatedly serves the resource for a moment, for some seconds.
func (w *world) flapDefinition(seconds int) {
	c := w.resource
	if !c.exists || !w.running {
		return
	}
	w.reach("operation", flapDefinition)
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		for _, d := range []denial{hidden, admitted} {
			c.deny(d)
			w.cutWatches()
			time.Sleep(20 * time.Millisecond)
		}
	}
	c.deny(hidden)
	w.cutWatches()
	c.kept = nil // the informer has read the resource meanwhile
}

// vanish makes a watch send a bookmark and end with 404.
func (w *stream) vanish(version string) {
	w.source.w.reach("operation", vanishingWatch)
	w.source.recordCause()
	if version != "" {
		w.send(watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}})
	}
	missing := apierrors.NewGenericServerResponse(http.StatusNotFound, "watch", customs, "", "", 0, false)
	w.send(watch.Event{Type: watch.Error, Object: &missing.ErrStatus})
}
