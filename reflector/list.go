package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// listPatience is how long a list, or a page of one, may take to arrive:
// kube-apiserver itself gives up after a minute.
const listPatience = 10 * time.Minute

// page is one page of a list.
type page struct {
	items          runtime.Object
	taken          int // how many of them were taken up, to be written
	version, token string
	remaining      int64 // -1 where the server did not say
}

// list asks for one page and keeps it until the machine says what to do with it.
func (l *loop[T]) list(r request) (input, error) {
	ctx, cancel := context.WithTimeoutCause(l.ctx, listPatience, ErrSilent)
	defer cancel()
	o := metav1.ListOptions{ResourceVersion: r.version, Limit: r.limit, Continue: r.token}
	p, err := call(ctx, func() (page, error) { return fetch(ctx, l.source, o) }, func(page) {})
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrSilent) {
			err = fmt.Errorf("%w: %w", ErrSilent, err)
		}
		return input{kind: inFailed}, err
	}
	if r.token == "" {
		l.pager = pager{}
	}
	if err := l.pager.follow(meta.LenList(p.items), p.token); err != nil {
		return input{kind: inFailed}, err
	}
	if p.version == "" && l.needsVersion(r) {
		// It may be the answer of something in between, and would empty the cache.
		return input{kind: inFailed}, fmt.Errorf("%w: a list without a resourceVersion", ErrBadAnswer)
	}
	l.page = p
	return input{kind: inPage, version: p.version, token: p.token}, nil
}

// needsVersion tells whether a page must have a version, since the source has them.
func (l *loop[T]) needsVersion(r request) bool {
	if r.token != "" {
		return l.machine.listed != ""
	}
	return l.told || l.streaming == StreamingSupported
}

func fetch(ctx context.Context, src Source, o metav1.ListOptions) (page, error) {
	obj, err := src.List(ctx, o)
	if err != nil {
		return page{}, err
	}
	if obj == nil {
		return page{}, fmt.Errorf("%w: nothing instead of a list", ErrBadAnswer)
	}
	if isTable(obj.GetObjectKind().GroupVersionKind()) {
		return page{}, ErrTable
	}
	m, err := meta.ListAccessor(obj)
	if err != nil || !meta.IsListType(obj) || isObject(obj) {
		return page{}, fmt.Errorf("%w: a %T instead of a list", ErrBadAnswer, obj)
	}
	p := page{items: obj, version: m.GetResourceVersion(), token: m.GetContinue(), remaining: -1}
	if n := m.GetRemainingItemCount(); n != nil {
		p.remaining = *n
	} else if p.token == "" {
		p.remaining = 0
	}
	return p, nil
}

// isObject tells whether what claims to be an unstructured list is an object:
// client-go decodes the one as the other, with no items and the object's version.
func isObject(list runtime.Object) bool {
	u, ok := list.(*unstructured.UnstructuredList)
	if !ok {
		return false
	}
	name, _, _ := unstructured.NestedString(u.Object, "metadata", "name")
	return name != ""
}

// writePage hands a page to the sink. The objects are copied out of it, so that
// one of them in use does not pin them all.
func (l *loop[T]) writePage() error {
	if err := l.flush(); err != nil { // what a Write has left that ended the goroutine
		return err
	}
	n := 0
	err := meta.EachListItemWithAlloc(l.page.items, func(obj runtime.Object) error {
		if n++; n <= l.page.taken {
			return nil
		}
		l.page.taken = n
		if err := l.decoder.item(l.grow(), deltafifo.Added, obj); err != nil {
			l.shrink()
			l.skip(fmt.Errorf("list item %s: %w", nameOf(obj), err))
			return nil
		}
		l.objects++
		if len(l.batch) == maxBatch {
			return l.flush()
		}
		return nil
	})
	if err == nil {
		err = l.flush()
	}
	if err == nil {
		l.tell(Paged{Operation: OpList, Objects: l.objects, Remaining: l.page.remaining})
	}
	return err
}
