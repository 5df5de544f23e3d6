package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Source is a source of an informer. When the informer runs, the goroutine of the source's reflector makes
// it, once. It is made late because the function may be the program's, and because an informer that never
// runs needs no client.
type Source struct {
	make  func() (reflector.Source, error)
	ready chan struct{}    // closed once made is set; never if make has failed
	made  reflector.Source // valid once ready is closed
}

// LateSources returns sources that their functions make when the informer runs.
func LateSources(makers []func() (reflector.Source, error)) (sources []*Source) {
	for _, f := range makers {
		sources = append(sources, &Source{make: f, ready: make(chan struct{})})
	}
	return sources
}

// MadeSources returns sources that exist already.
func MadeSources(made ...reflector.Source) (sources []*Source) {
	for _, of := range made {
		s := &Source{made: of, ready: make(chan struct{})}
		close(s.ready)
		sources = append(sources, s)
	}
	return sources
}

// missing reports whether an informer has nothing to read.
func missing(sources []*Source) bool {
	return len(sources) == 0 || slices.ContainsFunc(sources, func(s *Source) bool { return closed(s.ready) && s.made.IsZero() })
}

// get makes the source, unless it exists. Only the goroutine of its reflector calls it.
func (s *Source) get() (made reflector.Source, err error) {
	if closed(s.ready) {
		return s.made, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("making the source: %w: %v\n%s", reflector.ErrPanic, p, debug.Stack())
		}
	}()
	made, err = s.make()
	switch {
	case err != nil:
		return made, fmt.Errorf("making the source: %w", err)
	case made.IsZero():
		return made, ErrNoSource
	}
	s.made = made
	close(s.ready)
	return made, nil
}

// list lists the source as its reflector does.
func (s *Source) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if s.made.Tweak != nil {
		s.made.Tweak(&o)
	}
	return s.made.List(ctx, o)
}
