package informertest

import (
	"cmp"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func (x *exchange) serveList() error {
	list, err := x.list(x.r.Context(), x.asked("list"), x.options)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, list, x.kind.listGVK())
}

func (x *exchange) serveGet() error {
	if _, err := x.begin(x.r.Context(), x.asked("get")); err != nil {
		return err
	}
	obj, err := x.read(x.r.Context(), func() (apiObject, error) {
		return x.model.get(x.resource, x.namespace, x.name, x.view, x.r.URL.Query().Get("resourceVersion"))
	})
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, obj, x.seen.GVK)
}

func (x *exchange) serveCreate() error {
	w, obj, err := x.receive("create", "CreateOptions")
	if err != nil {
		return err
	}
	return x.answerWrite(http.StatusCreated, func() (apiObject, error) {
		return x.model.create(x.resource, x.namespace, w, obj)
	})
}

func (x *exchange) serveUpdate() error {
	w, obj, err := x.receive("update", "UpdateOptions")
	if err != nil {
		return err
	}
	if obj.GetName() != x.name {
		return errOtherName(obj.GetName(), x.name)
	}
	return x.answerPut(func() (apiObject, bool, error) {
		return x.model.put(x.resource, x.namespace, x.name, w, obj)
	})
}

func (x *exchange) servePatch() error {
	body, err := x.begun(x.asked("patch"))
	if err != nil {
		return err
	}
	form, err := patchForm(x.seen, x.r)
	if err != nil {
		return err
	}
	w, err := x.writing("PatchOptions", form)
	if err != nil {
		return err
	}
	p := patch{form, body}
	if form == types.ApplyYAMLPatchType {
		return x.serveApply(w, p)
	}
	return x.answerWrite(http.StatusOK, func() (apiObject, error) {
		return x.model.patch(x.resource, x.namespace, x.name, w, p)
	})
}

func (x *exchange) serveApply(w writing, p patch) error {
	return x.answerPut(func() (apiObject, bool, error) {
		return x.model.apply(x.resource, x.namespace, x.name, w, p)
	})
}

// serveDelete answers with the object if it still exists or if the kind answers that way, and otherwise with
// a status. Clients that set the old field OrphanDependents get another code for an object that still exists.
func (x *exchange) serveDelete() error {
	body, err := x.begun(x.asked("delete"))
	if err != nil {
		return err
	}
	o, err := readDeleteOptions(x.r, body)
	if err != nil {
		return err
	}
	var gone bool
	obj, err := x.write(x.r.Context(), func() (obj apiObject, err error) {
		obj, gone, err = x.model.delete(x.resource, x.namespace, x.name, x.deleting(o), o)
		return obj, err
	})
	switch {
	case err != nil:
		return err
	case !gone && o.OrphanDependents != nil && !*o.OrphanDependents: //nolint:staticcheck // old clients set it
		return x.answer(http.StatusAccepted, obj, x.kind.GVK)
	case !gone || x.kind.answersDeleted:
		return x.answer(http.StatusOK, obj, x.kind.GVK)
	}
	return x.answer(http.StatusOK, &metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: obj.GetName(), Group: x.resource.Group, Kind: x.resource.Resource, UID: obj.GetUID()},
	}, statusGVK)
}

// serveDeleteCollection answers with a list of the deleted objects.
func (x *exchange) serveDeleteCollection() error {
	body, err := x.begun(x.asked("deletecollection").selecting(x.options))
	if err != nil {
		return err
	}
	o, err := readDeleteOptions(x.r, body)
	if err != nil {
		return err
	}
	x.options.Watch = false
	list, err := x.deleteCollection(x.r.Context(), x.target, x.deleting(o), o, x.options)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, list, x.kind.listGVK())
}

// deleting returns the description of a deletion with these options.
func (x *exchange) deleting(o metav1.DeleteOptions) writing {
	return writing{view: x.view, now: now(), dryRun: len(o.DryRun) > 0}
}

// answerWrite performs a write, and answers with its result.
func (x *exchange) answerWrite(code int, do func() (apiObject, error)) error {
	obj, err := x.write(x.r.Context(), do)
	if err != nil {
		return err
	}
	return x.answer(code, obj, x.seen.GVK)
}

// answerPut performs a write that may create the object, and answers with its result.
func (x *exchange) answerPut(do func() (obj apiObject, created bool, err error)) error {
	code := http.StatusOK
	obj, err := x.write(x.r.Context(), func() (apiObject, error) {
		obj, created, err := do()
		if created {
			code = http.StatusCreated
		}
		return obj, err
	})
	if err != nil {
		return err
	}
	return x.answer(code, obj, x.seen.GVK)
}

// asked describes the request.
func (x *exchange) asked(verb string) Request {
	r := x.request(verb)
	r.UserAgent, r.ContentType = x.r.UserAgent(), x.r.Header.Get("Content-Type")
	return r
}

// begun begins a request that has a body, and returns the body.
func (x *exchange) begun(r Request) (body []byte, err error) {
	kept, err := x.begin(x.r.Context(), r)
	if err != nil {
		return nil, err
	}
	body, err = readBody(x.w, x.r)
	x.noteBody(kept, body)
	return body, err
}

// receive reads the object of a request and the options of the write.
func (x *exchange) receive(verb, options string) (writing, apiObject, error) {
	body, err := x.begun(x.asked(verb))
	if err != nil {
		return writing{}, nil, err
	}
	w, err := x.writing(options, "")
	if err != nil {
		return writing{}, nil, err
	}
	obj, err := x.decode(x.seen, mediaType(x.r), body)
	return w, obj, err
}

// writing reads the options of a write. All verbs have the same options, except that a patch has one more. If
// the options name no field manager, it is the client's name.
func (x *exchange) writing(kind string, form types.PatchType) (writing, error) {
	var o metav1.PatchOptions
	if err := scheme.ParameterCodec.DecodeParameters(x.r.URL.Query(), metav1.SchemeGroupVersion, &o); err != nil {
		return writing{}, errMalformed(err)
	}
	if problems := validation.ValidatePatchOptions(&o, form); len(problems) > 0 {
		return writing{}, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", problems)
	}
	agent, _, _ := strings.Cut(x.r.UserAgent(), "/")
	return writing{
		view: x.view, now: now(), dryRun: len(o.DryRun) > 0, manager: cmp.Or(o.FieldManager, agent), force: value(o.Force),
	}, nil
}
