package served

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// firstPause is the first pause before a question, and longestPause bounds the others.
	firstPause   = time.Second
	longestPause = 10 * time.Second
	// patience is how long the documents of an answer may take.
	patience = 30 * time.Second
)

// Resource asks discovery about a resource that a server may not serve.
type Resource struct {
	documents Documents
	resource  schema.GroupVersionResource
	random    func() float64
	pauses    int // since the resource was found
}

// New returns a Resource that reads documents. Random returns numbers in [0, 1) to spread the pauses;
// nil means math/rand/v2.
func New(documents Documents, resource schema.GroupVersionResource, random func() float64) *Resource {
	if random == nil {
		random = rand.Float64
	}
	return &Resource{documents: documents, resource: resource, random: random}
}

// Await is called after a list of the resource was answered with 404. Objects says whether the reflector
// has objects of it. Await returns [Deleted] only if there are some, and the served versions with
// [Elsewhere]. The error is that of ctx.
//
// Each call counts its own answers only. Those of an earlier call no longer count, since the reflector
// has requested a list after them.
func (r *Resource) Await(ctx context.Context, objects bool) (a Answer, versions []string, err error) {
	var row absence
	for a == 0 {
		if err := r.pause(ctx); err != nil {
			return 0, nil, err
		}
		f := r.ask(ctx)
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		a, versions = row.judge(f, r.resource.Version, objects), f.versions
	}
	return a, versions, nil
}

// Found is called after the resource was watched for more than a moment. A server that accepts a list or
// a watch proves less: it may answer the next request with 404, again and again.
func (r *Resource) Found() { r.pauses = 0 }

func (r *Resource) ask(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	versions, err := discover(ctx, r.documents, r.resource.GroupResource())
	return finding{versions, err, time.Now()}
}

// pause waits before the next question. It returns the error of ctx.
func (r *Resource) pause(ctx context.Context) error {
	timer := time.NewTimer(pause(r.pauses, r.random()))
	defer timer.Stop()
	r.pauses++
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause returns the pause after a number of others. Random is in [0, 1).
func pause(others int, random float64) time.Duration {
	d := longestPause
	if others < 4 {
		d = min(firstPause<<others, longestPause)
	}
	return d + time.Duration(random*float64(d)/2)
}
