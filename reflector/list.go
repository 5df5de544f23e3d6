package reflector

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// page is one page of a list.
type page struct {
	items          runtime.Object // of a page that is decoded while it arrives, instead:
	received       []wire.Received
	version, token string
	remaining      int64 // -1 where the server did not say
}

// acceptPage stores a page that a client has decoded for the machine's next action.
func (l *loop) acceptPage(r request, list runtime.Object) (input, error) {
	p, err := pageOf(list)
	if err != nil {
		return input{kind: inFailed}, err
	}
	return l.accept(r, p, meta.LenList(p.items))
}

// accept checks a page's version and token. The error of an inPage applies only if the machine
// refuses the page.
func (l *loop) accept(r request, p page, items int) (input, error) {
	if r.token == "" {
		l.pager = pager{}
	}
	if err := l.pager.follow(items, p.token); err != nil {
		return input{kind: inFailed}, err
	}
	l.page = p
	in := input{kind: inPage, version: p.version, token: p.token}
	if p.version == "" {
		return in, fmt.Errorf("%w: a list without a resourceVersion", ErrBadAnswer)
	}
	return in, nil
}

func pageOf(obj runtime.Object) (page, error) {
	if object.IsNil(obj) {
		return page{}, fmt.Errorf("%w: no list and no error", ErrBadAnswer)
	}
	if wire.IsTable(obj.GetObjectKind().GroupVersionKind()) {
		return page{}, wire.ErrTable
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

// isObject reports whether an unstructured list is really an object or a status. client-go decodes
// those as a list without items, with the object's version.
func isObject(list runtime.Object) bool {
	u, ok := list.(*unstructured.UnstructuredList)
	if !ok {
		return false
	}
	name, _, _ := unstructured.NestedString(u.Object, "metadata", "name")
	return name != "" || u.GetAPIVersion() == "v1" && u.GetKind() == "Status"
}

// writePage passes a page to the sink object by object, so that an object in use does not keep the
// whole page in memory.
func (l *loop) writePage() error {
	if l.page.items == nil {
		return l.writeReceived()
	}
	sink, share, each, copies := l.reuses(), l.share, meta.EachListItemWithAlloc, false
	switch {
	case sink != nil:
		each = meta.EachListItem // writeItems copies what the sink does not have
	case share != nil:
		each, copies = meta.EachListItem, l.page.hasValues() // foreign objects are not copied
	}
	err := each(l.page.items, func(obj runtime.Object) error {
		if object.IsNil(obj) { // null in a list of pointers
			obj = nil
		}
		if share != nil && share.dropObject(obj) {
			return nil
		}
		if copies {
			obj = copyOf(obj)
		}
		if sink == nil {
			obj = l.deltaMaker.cut(obj)
		}
		if err := l.deltaMaker.fromObject(l.addDelta(), deltafifo.Added, obj); err != nil {
			l.dropDelta()
			l.reportSkipped(fmt.Errorf("list item %s: %w", nameOf(obj), err))
			return nil
		}
		l.objects++
		if len(l.batch) == maxBatch {
			return l.writeItems(sink)
		}
		return nil
	})
	if err != nil { // from the sink, which has the batch, or from the list
		l.clearBatch()
		return err
	}
	if err := l.writeItems(sink); err != nil {
		return err
	}
	l.tell(Paged{Operation: OpList, Objects: l.objects, Remaining: l.page.remaining, Bytes: l.bytes})
	return nil
}

// writeItems passes a batch of a page to the sink. If the sink may reuse its objects, the batch has
// the page's own objects, and writeItems copies those that the sink does not have.
func (l *loop) writeItems(sink keeper.Sink) error {
	if sink == nil {
		return l.flush()
	}
	sink.Reuse(l.batch)
	values := l.page.hasValues()
	for i := range l.batch {
		d := &l.batch[i]
		if d.Recalled {
			continue
		}
		obj := d.Object.(runtime.Object)
		if values {
			obj = copyOf(obj)
		}
		d.Object = l.deltaMaker.cut(obj)
	}
	return l.flush()
}

// hasValues reports whether the objects of a list are in the list's own memory.
func (p *page) hasValues() bool {
	if _, ok := p.items.(runtime.Unstructured); ok {
		return true
	}
	at, err := meta.GetItemsPtr(p.items)
	return err == nil && reflect.PointerTo(reflect.TypeOf(at).Elem().Elem()).Implements(reflect.TypeFor[runtime.Object]())
}

// copyOf returns a shallow copy of an object.
func copyOf(obj runtime.Object) runtime.Object {
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to.Interface().(runtime.Object)
}
