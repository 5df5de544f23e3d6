package reflector

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// listPatience is how long a list, or a page of one, may take to arrive:
// kube-apiserver itself gives up after a minute.
const listPatience = 10 * time.Minute

// page is one page of a list.
type page struct {
	items          runtime.Object // or, of a page that is read as it arrives:
	arrivals       []arrival
	version, token string
	remaining      int64 // -1 where the server did not say
}

// came keeps a page that a client has decoded until the machine says what to do
// with it.
func (l *loop[T]) came(r request, list runtime.Object) (input, error) {
	p, err := pageOf(list)
	if err != nil {
		return input{kind: inFailed}, err
	}
	return l.accept(r, p, meta.LenList(p.items))
}

// accept checks what a page says of the list that it belongs to.
func (l *loop[T]) accept(r request, p page, items int) (input, error) {
	if r.token == "" {
		l.pager = pager{}
	}
	if err := l.pager.follow(items, p.token); err != nil {
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

func pageOf(obj runtime.Object) (page, error) {
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
func (l *loop[T]) writePage(p page) error {
	if p.items == nil {
		return l.writeArrivals(p.arrivals)
	}
	err := meta.EachListItemWithAlloc(p.items, func(obj runtime.Object) error {
		if err := l.decoder.item(l.grow(), deltafifo.Added, l.decoder.cut(obj)); err != nil {
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
		l.tell(Paged{Operation: OpList, Objects: l.objects, Remaining: p.remaining})
	}
	return err
}
