package main

import (
	"bytes"
	"errors"
	"io"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// The decoders: client-go's as its clients have them, ours as an informer has
// them that nobody told anything.

// codec is what a generated client makes of a serializer.
func codec(s runtime.Serializer) (runtime.Encoder, runtime.Decoder) {
	of := scheme.Codecs.WithoutConversion()
	return of.EncoderForVersion(s, corev1.SchemeGroupVersion), of.DecoderToVersion(s, corev1.SchemeGroupVersion)
}

// inProtobuf is pods as a watch brings them, each in an envelope.
func inProtobuf(pod func(i int) *corev1.Pod) func(int) (decoding, error) {
	return func(n int) (decoding, error) {
		encoder, decoder := codec(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme))
		bodies, err := written(n, func(i int) ([]byte, error) { return runtime.Encode(encoder, pod(i)) })
		return decoding{
			bodies: bodies, each: 1,
			theirs: func(data []byte) (any, error) { return runtime.Decode(decoder, data) },
			ours: func() (decode, func() uint64) {
				d := protodecode.New(reflect.TypeFor[corev1.Pod](), protodecode.Options{Table: share.New(0), Values: true})
				return func(data []byte) (any, error) {
					raw, err := inEnvelope(data)
					if err != nil {
						return nil, err
					}
					return d.Decode(raw)
				}, d.Fallbacks
			},
		}, err
	}
}

// inEnvelope returns what an envelope in protobuf holds.
func inEnvelope(data []byte) ([]byte, error) {
	const magic, raw = "k8s\x00", 2
	for data = bytes.TrimPrefix(data, []byte(magic)); len(data) > 0; {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		if number == raw {
			value, n := protowire.ConsumeBytes(data)
			return value, protowire.ParseError(n)
		}
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
	}
	return nil, io.ErrUnexpectedEOF
}

// asUnstructured is custom resources as the dynamic client reads them.
func asUnstructured(n int) (decoding, error) {
	bodies, err := releases(n)
	return decoding{
		bodies: bodies, each: 1,
		theirs: func(data []byte) (any, error) {
			u := &unstructured.Unstructured{}
			_, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, u)
			return u, err
		},
		ours: func() (decode, func() uint64) {
			d := jsondecode.NewUnstructured(jsondecode.Options{Table: share.New(0), Values: true})
			return func(data []byte) (any, error) {
				object, err := d.Decode(data)
				return &unstructured.Unstructured{Object: object}, err
			}, d.Redone
		},
	}, err
}

// asType is the same custom resources, of which there is a Go type. Of client-go's
// reading it is the cheaper part: a client looks for the kind before that.
func asType(n int) (decoding, error) {
	bodies, err := releases(n)
	return decoding{
		bodies: bodies, each: 1,
		theirs: func(data []byte) (any, error) {
			r := new(release)
			return r, utiljson.Unmarshal(data, r)
		},
		ours: func() (decode, func() uint64) {
			d := jsondecode.NewTyped(reflect.TypeFor[release](), jsondecode.Options{Table: share.New(0), Values: true})
			return d.Decode, d.Redone
		},
	}, err
}

func releases(n int) ([][]byte, error) {
	return written(n, func(i int) ([]byte, error) { return utiljson.Marshal(newRelease(i)) })
}

// asList is lists of pods in JSON, in which clients ask for them by default.
func asList(n int) (decoding, error) {
	encoder, decoder := codec(json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}))
	bodies, err := written(max(2, n/perGroup), func(i int) ([]byte, error) {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version(n)}}
		for j := range perGroup {
			list.Items = append(list.Items, *siblingPod(i*perGroup + j))
		}
		return runtime.Encode(encoder, list)
	})
	return decoding{
		bodies: bodies, each: perGroup,
		theirs: func(data []byte) (any, error) { return runtime.Decode(decoder, data) },
		ours: func() (decode, func() uint64) {
			d := jsondecode.NewTyped(reflect.TypeFor[corev1.Pod](), jsondecode.Options{Table: share.New(0), Values: true})
			return func(data []byte) (any, error) { return itemByItem(data, d) }, d.Redone
		},
	}, err
}

// itemByItem decodes the items of a list, as they arrive.
func itemByItem(body []byte, d *jsondecode.Typed) (pods []*corev1.Pod, err error) {
	list := jsondecode.NewList(bytes.NewReader(body))
	for {
		item, err := list.Next()
		if errors.Is(err, io.EOF) {
			return pods, nil
		}
		if err != nil {
			return nil, err
		}
		object, err := d.Decode(item)
		if err != nil {
			return nil, err
		}
		pods = append(pods, object.(*corev1.Pod))
	}
}

// written encodes n bodies.
func written(n int, body func(i int) ([]byte, error)) ([][]byte, error) {
	bodies := make([][]byte, n)
	for i := range bodies {
		var err error
		if bodies[i], err = body(i); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}
