package informertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

const (
	partialObject = "PartialObjectMetadata"
	partialList   = "PartialObjectMetadataList"
)

// form is the form of an answer. If as is set, the answer has only metadata, as an object of that kind.
type form struct{ media, as string }

var plainJSON = form{media: runtime.ContentTypeJSON}

// negotiate returns the client's preferred form among the allowed ones.
func negotiate(accept []string, allowed func(form) bool) (form, error) {
	if len(accept) == 0 {
		accept = []string{"*/*"}
	}
	type candidate struct {
		form
		quality float64
	}
	var candidates []candidate
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		if f, quality := parseAccept(part); quality > 0 && allowed(f) {
			candidates = append(candidates, candidate{f, quality})
		}
	}
	if len(candidates) == 0 {
		return form{}, errNotAcceptable()
	}
	// Among equal qualities, the first wins.
	return slices.MaxFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.quality, b.quality) }).form, nil
}

// parseAccept reads one part of an Accept header. The quality is 0 for forms that the server does not
// support: tables, CBOR, and aggregated discovery.
func parseAccept(part string) (f form, quality float64) {
	media, params, err := mime.ParseMediaType(part)
	if err != nil {
		return f, 0
	}
	switch media {
	case runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
		f.media = media
	case "application/*", "*/*":
		f.media = runtime.ContentTypeJSON
	default:
		return f, 0
	}
	switch as := params["as"]; {
	case as == "":
	case (as == partialObject || as == partialList) && params["g"] == metav1.GroupName && params["v"] == "v1":
		f.as = as
	default:
		return f, 0
	}
	if quality, err = strconv.ParseFloat(params["q"], 64); err != nil {
		quality = 1
	}
	return f, quality
}

func errNotAcceptable() error {
	return apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", schema.GroupResource{}, "",
		"only the following media types are accepted: "+runtime.ContentTypeJSON+", "+runtime.ContentTypeProtobuf, 0, false)
}

// shape converts an object, a list or a status to the kind that the client wants.
func (f form) shape(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	if _, ok := obj.(*metav1.Status); ok || f.as == "" {
		return withKind(obj, gvk)
	}
	if o, ok := obj.(metav1.Object); ok {
		return partial(o)
	}
	return partialListOf(obj)
}

// partial returns an object's metadata.
func partial(obj metav1.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(obj)
	p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(partialObject))
	return p
}

// partialListOf returns the metadata of a list and of its items.
func partialListOf(list runtime.Object) *metav1.PartialObjectMetadataList {
	p := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{}}
	p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(partialList))
	if about, err := meta.ListAccessor(list); err == nil {
		p.ResourceVersion, p.Continue, p.RemainingItemCount = about.GetResourceVersion(), about.GetContinue(), about.GetRemainingItemCount()
	}
	_ = meta.EachListItem(list, func(item runtime.Object) error { // no item fails
		p.Items = append(p.Items, *partial(item.(metav1.Object)))
		return nil
	})
	return p
}

// encode serializes the result of shape.
func (f form) encode(obj runtime.Object) ([]byte, error) {
	if f.media != runtime.ContentTypeProtobuf {
		return json.Marshal(obj)
	}
	var b bytes.Buffer
	err := protobuf.NewSerializer(nil, nil).Encode(obj, &b)
	return b.Bytes(), err
}
