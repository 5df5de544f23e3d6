package reflector

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/internal/served"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// watchOver returns an observer of a source's resource, or nil if no client can find out whether the
// server serves it. It sends no request yet.
type watchOver func(random func() float64) *served.Resource

// presence tracks whether the server has the resource.
type presence struct {
	watchOver watchOver        // nil if nobody can be asked
	resource  *served.Resource // nil until the resource is missing for the first time
	notFound  error            // the server's last 404
	// holds is true after a full state: the sink has objects to delete if the resource is
	// removed.
	holds bool
	// missing is the time since which the resource is missing, or zero.
	missing time.Time
}

// note follows an input and the machine's new phase.
func (p *presence) note(in input, phase phase) {
	switch {
	case in.kind == inCommitted && phase == absent:
		p.holds = false
	case in.kind == inCommitted:
		p.holds, p.missing = true, time.Time{}
	case phase == absent && p.missing.IsZero():
		p.missing = time.Now()
	}
}

// watched is called after a watch has lasted.
func (p *presence) watched() {
	if p.resource != nil {
		p.resource.Found()
	}
}

// isMissing reports whether the server does not know the resource, and somebody can be asked about
// it. A 404 for a stream does not count, since servers refuse streams so: the following list decides.
func (l *loop) isMissing(in input, err error) bool {
	p := &l.presence
	if in.kind != inFailed || l.operation == OpStream || !apierrors.IsNotFound(err) || p.watchOver == nil {
		return false
	}
	if p.resource == nil {
		p.resource = p.watchOver(l.random)
	}
	p.notFound = err
	return p.resource != nil
}

// await waits until the server serves the resource, or until the resource is known to be removed.
func (l *loop) await() (input, error) {
	p := &l.presence
	type end struct {
		answer   served.Answer
		versions []string
	}
	e, err := wire.Call(l.ctx, func() (e end, err error) {
		e.answer, e.versions, err = p.resource.Await(l.ctx, p.holds)
		return e, err
	}, func(end) {})
	switch {
	case err != nil:
		return input{kind: inFailed}, err
	case e.answer == served.Served:
		return input{kind: inServed}, nil
	case e.answer == served.Elsewhere:
		return input{kind: inFailed, class: classMissing}, fmt.Errorf("%w in this version, but in %s: %w", ErrNotServed, strings.Join(e.versions, ", "), p.notFound)
	case e.answer == served.Deleted:
		return input{kind: inWithdrawn}, nil
	default:
		return input{kind: inUnknowable}, nil
	}
}

// maxDocument bounds the size of a discovery document.
const maxDocument = 16 << 20

// documents gets discovery documents by a metadata client with [Wire] in its transport; the client
// itself would drop the answer. A document has the path of a list of a resource without a name.
func documents(c metadata.Interface) served.Documents {
	return served.FromJSON(func(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
		resource := gv.WithResource("")
		ask := throughClient(From(c.Resource(resource)), collectionPath(resource, ""))
		a, err := ask(ctx, metav1.ListOptions{}, true)
		if err != nil {
			return nil, err
		}
		if a.Body == nil {
			a.Close()
			return nil, served.ErrNoDiscovery
		}
		document, err := io.ReadAll(io.LimitReader(a.Body, maxDocument))
		if a.Body.Close() != nil {
			return nil, served.ErrNoDiscovery
		}
		return document, err
	})
}
