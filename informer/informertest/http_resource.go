package informertest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (x *exchange) serveList() error {
	list, err := x.list(x.r.Context(), x.resource, x.namespace, x.options)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, list, x.kind.listGVK())
}

func (x *exchange) serveGet() error {
	if err := x.begin(x.r.Context(), x.request("get"), &x.requests.Get); err != nil {
		return err
	}
	obj, err := x.read(x.r.Context(), func() (Object, error) {
		return x.model.get(x.resource, x.namespace, x.name, x.view, x.r.URL.Query().Get("resourceVersion"))
	})
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, obj, x.seen.GVK)
}

func (x *exchange) serveCreate() error {
	obj, err := x.receive("create", &x.requests.Create)
	if err != nil {
		return err
	}
	return x.answerWrite(http.StatusCreated, func() (Object, error) {
		return x.model.create(x.resource, x.namespace, x.view, obj, now())
	})
}

func (x *exchange) serveUpdate() error {
	obj, err := x.receive("update", &x.requests.Update)
	if err != nil {
		return err
	}
	if obj.GetName() != x.name {
		return errOtherName(obj.GetName(), x.name)
	}
	return x.answerWrite(http.StatusOK, func() (Object, error) {
		return x.model.update(x.resource, x.namespace, x.view, obj)
	})
}

func (x *exchange) servePatch() error {
	if err := x.beginWrite("patch", &x.requests.Patch); err != nil {
		return err
	}
	p, err := readPatch(x.seen, x.w, x.r)
	if err != nil {
		return err
	}
	return x.answerWrite(http.StatusOK, func() (Object, error) {
		return x.model.patch(x.resource, x.namespace, x.name, x.view, p)
	})
}

func (x *exchange) serveDelete() error {
	if err := x.beginWrite("delete", &x.requests.Delete); err != nil {
		return err
	}
	o, err := readDeleteOptions(x.w, x.r)
	if err != nil {
		return err
	}
	if len(o.DryRun) > 0 {
		return errDryRun()
	}
	gone, err := x.write(x.r.Context(), func() (Object, error) {
		return x.model.delete(x.resource, x.namespace, x.name, o.Preconditions)
	})
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: gone.GetName(), Group: x.resource.Group, Kind: x.resource.Resource, UID: gone.GetUID()},
	}, statusGVK)
}

// answerWrite changes something, and answers with what it became.
func (x *exchange) answerWrite(code int, do func() (Object, error)) error {
	obj, err := x.write(x.r.Context(), do)
	if err != nil {
		return err
	}
	return x.answer(code, obj, x.seen.GVK)
}

// receive reads the object that a request brings.
func (x *exchange) receive(verb string, count *int) (Object, error) {
	if err := x.beginWrite(verb, count); err != nil {
		return nil, err
	}
	body, err := readBody(x.w, x.r)
	if err != nil {
		return nil, err
	}
	return x.decode(x.seen, mediaType(x.r), body)
}

// beginWrite counts a request that is to change something.
func (x *exchange) beginWrite(verb string, count *int) error {
	if err := x.begin(x.r.Context(), x.request(verb), count); err != nil {
		return err
	}
	if x.r.URL.Query().Has("dryRun") {
		return errDryRun()
	}
	return nil
}

// errDryRun is not an answer of a real server. To really do what was only to
// be tried would be worse.
func errDryRun() error { return apierrors.NewBadRequest("informertest does not do dry runs") }
