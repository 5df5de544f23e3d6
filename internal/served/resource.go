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
	// firstPause is how long the first pause lasts between two requests of a kind, firstRetry
	// between two tries of a resource that is said to be served, and longest the longest of both.
	firstPause = time.Second
	firstRetry = 100 * time.Millisecond
	longest    = 30 * time.Second
	// Where nothing but discovery tells of the resource it is asked eagerly at first, for seven
	// minutes or so, with no pause longer than eagerPause: what comes after its informer
	// mostly comes soon.
	eagerly    = 60
	eagerPause = 6 * time.Second
)

// Resource watches over one resource that a server may not serve.
type Resource struct {
	client   Client
	resource schema.GroupVersionResource
	random   func() float64
	machine  machine
}

// New returns what watches over a resource by a client. Another version is chosen where follows
// says so and the wanted one is not served. Random returns the numbers in [0, 1) that
// spread the pauses; nil means those of math/rand/v2.
func New(c Client, resource schema.GroupVersionResource, follows bool, random func() float64) *Resource {
	if random == nil {
		random = rand.Float64
	}
	return &Resource{
		client: c, resource: resource, random: random,
		machine: machine{wanted: resource.Version, follows: follows},
	}
}

// Await is called when the resource was answered with 404, known saying whether there are objects
// that were not told as deleted. It waits until the resource is served, and returns the
// version to ask for; or until it is known to have been taken away, if there are objects; or until
// nothing can be learned. An error is that of ctx.
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

// Found is called when the resource is listed, and a watch of it has brought something or lasted.
func (r *Resource) Found() { r.step(input{kind: inFound}) }

func (r *Resource) step(in input) action {
	a := r.machine.step(in)
	if verify.On {
		r.machine.check()
	}
	return a
}

// absence does what the machine says until the absence ends.
type absence struct {
	*Resource
	ctx   context.Context
	told  chan told
	group sync.WaitGroup
	drop  func() // ends what is under way beside the watch of the definition
}

// told is an input, and the context of what brought it: one that was dropped has
// nothing to say any more.
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

// follow tells of the definition. Resources of the core group have none.
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

// tell hands an input to Await.
func (w *absence) tell(ctx context.Context, in input) {
	select {
	case w.told <- told{in, ctx}:
	case <-ctx.Done():
	}
}

// longestOf is how long the pause of an action is at the most.
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
