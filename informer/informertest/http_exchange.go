package informertest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// exchange is a request for a resource that the server has, and its answer.
type exchange struct {
	*Server
	target
	// kind is the kind of the resource. seen is the kind of the view's objects.
	kind, seen kind
	view       view
	// options are the options of a list or a watch. For the deletion of a collection, they select the
	// objects.
	options internalversion.ListOptions
	form    form
	w       http.ResponseWriter
	r       *http.Request
}

// exchange reads the resource, the view and the options from a request, and chooses the form of the answer.
func (s *Server) exchange(t target, w http.ResponseWriter, r *http.Request) (*exchange, error) {
	x := &exchange{Server: s, target: t, w: w, r: r}
	var err error
	if x.kind, x.view, err = s.kindAt(t); err != nil {
		return nil, err
	}
	x.seen = x.kind.seen(x.view)
	if x.name == "" { // a list, a watch, or the deletion of a collection
		if err := scheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &x.options); err != nil {
			return nil, errMalformed(err)
		}
	}
	x.form, err = negotiate(r.Header.Values("Accept"), x.allows)
	return x, err
}

// kindAt returns the kind and the view of a path. The path of a namespaced object must name the namespace.
func (s *Server) kindAt(t target) (kind, view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.model.collection(t.resource, t.namespace)
	if err != nil {
		return kind{}, 0, err
	}
	v, ok := c.kind.viewOf(t.subresource)
	if !ok || t.name != "" && c.kind.Namespaced && t.namespace == "" {
		return kind{}, 0, errNotServed()
	}
	return c.kind, v, nil
}

// reads reports whether the request is a list or a watch.
func (x *exchange) reads() bool { return x.name == "" && x.r.Method == http.MethodGet }

// lists reports whether the answer is a list.
func (x *exchange) lists() bool {
	return x.reads() && !x.options.Watch || x.name == "" && x.r.Method == http.MethodDelete
}

// allows reports whether the request can be answered in a form. A partial object cannot stand for a list, nor
// a partial list for an object.
func (x *exchange) allows(f form) bool {
	switch f.as {
	case "":
		return f.media == runtime.ContentTypeJSON || x.seen.protobuf()
	case partialList:
		return x.lists()
	}
	return !x.lists()
}

// serve answers the request. It returns an error only if it has not written anything.
func (x *exchange) serve() error {
	switch method := x.r.Method; {
	case x.reads() && x.options.Watch:
		return x.serveWatch()
	case x.reads():
		return x.serveList()
	case x.name == "" && x.kind.Namespaced != (x.namespace != ""):
	case x.name == "" && method == http.MethodPost:
		return x.serveCreate()
	case x.name == "" && method == http.MethodDelete && !x.kind.oneByOne:
		return x.serveDeleteCollection()
	case x.name == "":
	case method == http.MethodPut:
		return x.serveUpdate()
	case x.view == viewFinalize:
	case method == http.MethodGet:
		return x.serveGet()
	case method == http.MethodPatch:
		return x.servePatch()
	case method == http.MethodDelete && x.view == viewMain:
		return x.serveDelete()
	}
	return errMethod()
}

func errMethod() *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

// answer writes an object, a list or a status.
func (x *exchange) answer(code int, obj runtime.Object, gvk schema.GroupVersionKind) error {
	text, err := x.form.encode(x.form.shape(obj, gvk))
	if err != nil {
		return err
	}
	write(x.w, code, x.form.media, text)
	return nil
}
