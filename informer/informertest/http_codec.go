package informertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
)

// maxBody is kube-apiserver's limit for the body of a request.
const maxBody = 3 << 20

// statusGVK is the kind of answers without an object.
var statusGVK = schema.GroupVersionKind{Version: "v1", Kind: "Status"}

func errMediaType(known ...string) error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "",
		fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %v", known), 0, false)
}

// readBody reads the body of a request, which may be empty.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	case err != nil:
		return nil, errMalformed(err)
	}
	return body, nil
}

// mediaType returns the format of a request's body. The default is JSON.
func mediaType(r *http.Request) string {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return runtime.ContentTypeJSON
	}
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		return header // an unknown media type
	}
	return media
}

// decoder returns the decoder of a media type.
func decoder(media string, scheme *runtime.Scheme) (runtime.Decoder, error) {
	switch media {
	case runtime.ContentTypeJSON:
		return jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{}), nil
	case runtime.ContentTypeProtobuf:
		return protobuf.NewSerializer(scheme, scheme), nil
	}
	return nil, errMediaType(runtime.ContentTypeJSON, runtime.ContentTypeProtobuf)
}

// decode reads an object of a kind. If the body does not name its kind, and the path's kind has a Go type,
// the object is of that kind.
func (s *Server) decode(k kind, media string, body []byte) (apiObject, error) {
	if media == runtime.ContentTypeProtobuf && !k.protobuf() {
		return nil, errMediaType(runtime.ContentTypeJSON)
	}
	d, err := decoder(media, s.scheme)
	if err != nil {
		return nil, err
	}
	decoded, gvk, err := d.Decode(body, &k.GVK, copyOf(k.object))
	if err != nil {
		return nil, errMalformed(err)
	}
	if *gvk != k.GVK {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s", gvk.Kind, gvk.GroupVersion(), k.GVK.Kind))
	}
	return decoded.(apiObject), nil // the type of k.object
}

// patchForm returns the patch type of a request, or an error if the kind does not accept it.
func patchForm(k kind, r *http.Request) (types.PatchType, error) {
	form := types.PatchType(mediaType(r))
	if forms := k.patches(); !slices.Contains(forms, form) {
		return form, errMediaType(fmt.Sprint(forms))
	}
	return form, nil
}

// readDeleteOptions reads the options of a deletion from the body or, if there is no body, from the query.
func readDeleteOptions(r *http.Request, body []byte) (o metav1.DeleteOptions, err error) {
	if len(body) == 0 {
		err = scheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &o)
	} else {
		var d runtime.Decoder
		// Each API group has its own name for DeleteOptions. With an empty scheme, the decoder accepts all of
		// these names.
		if d, err = decoder(mediaType(r), runtime.NewScheme()); err != nil {
			return o, err
		}
		_, _, err = d.Decode(body, nil, &o)
	}
	if err != nil {
		return o, errMalformed(err)
	}
	if problems := validation.ValidateDeleteOptions(&o); len(problems) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", problems)
	}
	return o, nil
}

func writeJSON(w http.ResponseWriter, code int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	write(w, code, runtime.ContentTypeJSON, text)
	return nil
}

func write(w http.ResponseWriter, code int, media string, text []byte) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(code)
	_, _ = w.Write(text) // fails if the client is gone
}

// writeError answers with the status of an error. Without a status, the answer is a 500, or a 503 after
// Close.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	var known apierrors.APIStatus
	switch {
	case errors.As(err, &known):
	case errors.Is(err, ErrClosed):
		known = apierrors.NewServiceUnavailable(err.Error())
	default:
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	f, err := negotiate(r.Header.Values("Accept"), func(form) bool { return true })
	if err != nil {
		f = plainJSON
	}
	text, err := f.encode(f.shape(&status, statusGVK))
	if err != nil {
		text = nil // cannot happen: a status has both forms
	}
	write(w, int(status.Code), f.media, text)
}
