package eventage

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Age is the age of a change on arrival: in the store, and in each handler.
type Age struct {
	// Version is the resourceVersion of the change, or of the full state that contained it.
	Version string
	Store   Bounds
	// Handlers are the handlers that the informer had when the change came, except handlers that
	// were stopped before they received it.
	Handlers []HandlerAge
}

// HandlerAge is the age of a change when a handler had received it.
type HandlerAge struct {
	Name string
	Bounds
}

// Bounds are the limits of an age.
type Bounds struct{ AtLeast, AtMost time.Duration }

// UpperBound asks for the server's current version and measures the first newer event that comes
// before ctx ends. AtLeast is zero in all bounds: the event may have happened just before it
// came.
//
// It returns the error of current, [ErrNoVersion], informer.ErrStopped, or the context's cause
// with a description of how far the event came.
func UpperBound(ctx context.Context, of *informer.Inspector, current func(context.Context) (version string, err error)) (Age, error) {
	asked := time.Now()
	version, err := current(ctx)
	if err == nil && version == "" {
		err = ErrNoVersion
	}
	if err != nil {
		return Age{}, fmt.Errorf("ask for the current version: %w", err)
	}
	arrival, err := of.ArrivalAfter(ctx, version)
	return ageOf(arrival, func(at time.Time) Bounds { return Bounds{AtMost: at.Sub(asked)} }), err
}

// Canary calls write, which must change the object of a key and return its new resourceVersion,
// and measures that change. The informer must see the object: the kind, the namespaces and the
// selectors must include it. See [Touch].
//
// It returns the error of write, [ErrNoVersion], informer.ErrStopped, or the context's cause with
// a description of how far the change came.
func Canary(ctx context.Context, of *informer.Inspector, key indexer.Key, write func(context.Context) (version string, err error)) (Age, error) {
	var began, ended time.Time
	arrival, err := of.ArrivalOf(ctx, key, func(ctx context.Context) (string, error) {
		began = time.Now()
		version, err := write(ctx)
		ended = time.Now()
		if err == nil && version == "" {
			err = ErrNoVersion
		}
		return version, err
	})
	return ageOf(arrival, func(at time.Time) Bounds { return Bounds{max(0, at.Sub(ended)), at.Sub(began)} }), err
}

// ageOf returns the ages at the moments of an arrival. It is empty if there was no arrival.
func ageOf(a informer.Arrival, at func(time.Time) Bounds) Age {
	if a.Stored.IsZero() {
		return Age{}
	}
	age := Age{Version: a.Version, Store: at(a.Stored)}
	for _, h := range a.Told {
		if !h.At.IsZero() {
			age.Handlers = append(age.Handlers, HandlerAge{h.Handler, at(h.At)})
		}
	}
	return age
}
