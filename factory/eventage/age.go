package eventage

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Age is how old a change was when it arrived.
type Age struct {
	// Version is the resourceVersion of the change, or of the full state that it came with.
	Version string
	Store   Bounds
	// Handlers are those that the informer had when the change came, and that were not
	// stopped before they were told it.
	Handlers []HandlerAge
}

// HandlerAge is how old a change was when a handler had been told it.
type HandlerAge struct {
	Name string
	Bounds
}

// Bounds are what an age is known to lie between.
type Bounds struct{ AtLeast, AtMost time.Duration }

// UpperBound asks for the server's current version and measures the first event that is newer,
// if one comes before ctx ends. AtLeast is zero in all bounds: the event may have happened
// just before it came.
//
// It returns the error of current, [ErrNoVersion], informer.ErrStopped, or the context's
// cause together with how far it came.
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

// Canary calls write, which is to change the object of a key and to return its new
// resourceVersion, and measures that change. The object has to be one that the informer
// sees: of its kind, its namespaces and its selectors. See [Touch].
//
// It returns the error of write, [ErrNoVersion], informer.ErrStopped, or the context's
// cause together with how far it came.
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

// ageOf is the age at each moment of an arrival, empty where there was none.
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
