package served

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// firstPause is the first pause between two equal requests, firstRetry the first between two
	// tries of a resource said to be served, and longest bounds both.
	firstPause = time.Second
	firstRetry = 100 * time.Millisecond
	longest    = 30 * time.Second
	// With discovery alone, the first eagerly pauses, about seven minutes, are at most eagerPause:
	// a resource that appears after its informer mostly appears soon.
	eagerly    = 60
	eagerPause = 6 * time.Second
)

// Resource observes a resource that a server may not serve.
type Resource struct {
	client   Client
	resource schema.GroupVersionResource
	random   func() float64
	machine  machine
}

// New returns a Resource that sends its requests through c. With follows, another version is chosen if
// the wanted one is not served. Random returns numbers in [0, 1) to spread the pauses; nil means
// math/rand/v2.
func New(c Client, resource schema.GroupVersionResource, follows bool, random func() float64) *Resource {
	if random == nil {
		random = rand.Float64
	}
	return &Resource{
		client: c, resource: resource, random: random,
		machine: machine{wanted: resource.Version, follows: follows},
	}
}

// Await is called after a list of the resource was answered with 404. Known says whether the reflector
// has objects of it. Await returns [Served] and the version to request; or [Deleted], if there are
// objects; or [Unknowable]. The error is that of ctx.
func (r *Resource) Await(ctx context.Context, known bool) (a Answer, version string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &absence{Resource: r, ctx: ctx, told: make(chan told), drop: func() {}}
	defer w.group.Wait()
	defer cancel()
	next := r.step(input{kind: inMissed, known: known})
	for next.op != doAnswer {
		w.do(next)
		select {
		case t := <-w.told:
			if next = (action{}); t.ctx.Err() == nil {
				next = r.step(t.input)
			}
		case <-ctx.Done():
			return 0, "", context.Cause(ctx)
		}
	}
	return next.answer, next.version, nil
}

// Found is called after a list of the resource, if the watch after it has lasted.
func (r *Resource) Found() { r.step(input{kind: inFound}) }

func (r *Resource) step(in input) action {
	a := r.machine.step(in)
	if verify.On {
		r.machine.check()
	}
	return a
}

// absence performs the machine's actions until the absence ends.
type absence struct {
	*Resource
	ctx   context.Context
	told  chan told
	group sync.WaitGroup
	drop  func() // ends the present operation, except the watch of the definition
}

// told is an input with the context of its operation. Inputs of a dropped operation are ignored.
type told struct {
	input
	ctx context.Context
}

func (w *absence) do(a action) {
	if a.op == doStay {
		return
	}
	w.drop()
	var ctx context.Context
	ctx, w.drop = context.WithCancel(w.ctx)
	switch a.op {
	case doDefine: // an earlier watch has ended, and no drop ends this one
		w.group.Go(w.follow)
	case doDiscover:
		w.group.Go(func() { w.tell(ctx, w.discovered(ctx)) })
	case doPause:
		w.after(ctx, pause(firstPause, longestOf(a), a.attempt, w.random()))
	case doRetry:
		w.after(ctx, pause(firstRetry, longest, a.attempt, w.random()))
	}
}

// follow observes the definition. Resources of the core group have none.
func (w *absence) follow() {
	tell := func(in input) { w.tell(w.ctx, in) }
	if w.resource.Group == "" {
		tell(input{kind: inRefused})
		return
	}
	follow(w.ctx, w.client, w.resource.GroupResource().String(), tell)
}

func (w *absence) after(ctx context.Context, d time.Duration) {
	w.group.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			w.tell(ctx, input{kind: inDue})
		case <-ctx.Done():
		}
	})
}

// tell passes an input to Await.
func (w *absence) tell(ctx context.Context, in input) {
	select {
	case w.told <- told{in, ctx}:
	case <-ctx.Done():
	}
}

// longestOf bounds the pause of an action.
func longestOf(a action) time.Duration {
	if a.alone && a.attempt <= eagerly {
		return eagerPause
	}
	return longest
}

// pause returns a pause that doubles with each attempt, lengthened by up to half as much again.
func pause(first, most time.Duration, attempt int, random float64) time.Duration {
	d := most
	if shift := attempt - 1; shift < 10 {
		d = min(first<<shift, most)
	}
	return d + time.Duration(random*float64(d)/2)
}
