package bench

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// decode decodes an object, or the pods in a list.
type decode func(data []byte) (any, error)

// decoding has encoded objects as a server sends them, and the decoders of both libraries.
type decoding struct {
	bodies [][]byte
	bare   [][]byte // bodies without their envelopes, for tidemark; nil if there are no envelopes
	theirs decode
	ours   func() decode // returns a new decoder
}

// made is the cluster whose objects are decoded.
var made = sync.OnceValue(func() *cluster.Cluster { return cluster.New(1, min(8000, *objects)) })

// BenchmarkDecode measures the decoding of an object or list on one goroutine. Before the measurement,
// each decoder decodes one half of the objects. It is measured with the other half. Then tidemark's
// table has the shared values, as in a watch after a list.
func BenchmarkDecode(b *testing.B) {
	for _, work := range []struct {
		name string
		make func() (decoding, error)
	}{
		{"pod", func() (decoding, error) { return inProtobuf(made().Pod) }},
		{"unique-pod", func() (decoding, error) { return inProtobuf(made().Unique) }},
		{"list", asList},
		{"unstructured", asUnstructured},
		{"typed", asType},
	} {
		of := sync.OnceValue(func() decoding {
			d, err := work.make()
			require.NoError(b, err)
			d.agree(b)
			return d
		})
		byEach(b, work.name, []string{clientgo, typed}, func(b *testing.B, impl string) { of().measure(b, impl) })
	}
}

func (d decoding) measure(b *testing.B, impl string) {
	m := newSection(b)
	half := len(d.bodies) / 2
	for done := 0; done < b.N; {
		bodies, of := d.bodies, d.theirs
		if impl == typed {
			bodies, of = d.forOurs(), d.ours()
		}
		d.all(b, bodies[:half], of)
		last := bodies[half:min(len(bodies), half+b.N-done)]
		m.begin()
		d.all(b, last, of)
		m.end()
		done += len(last)
	}
}

// forOurs returns the bodies for tidemark's decoder.
func (d decoding) forOurs() [][]byte {
	if d.bare != nil {
		return d.bare
	}
	return d.bodies
}

// all decodes bodies and drops the objects.
func (d decoding) all(b *testing.B, bodies [][]byte, of decode) {
	for _, data := range bodies {
		if _, err := of(data); err != nil {
			b.Fatal(err)
		}
	}
}

// agree fails unless both decoders make equal objects.
func (d decoding) agree(t testing.TB) {
	of := d.ours()
	for i, data := range d.forOurs()[:min(len(d.bodies), 100)] {
		theirs, err := d.theirs(d.bodies[i])
		require.NoError(t, err)
		ours, err := of(data)
		require.NoError(t, err)
		if list, ok := theirs.(*corev1.PodList); ok {
			theirs = pointers(list)
		}
		require.True(t, equality.Semantic.DeepEqual(theirs, ours), "the decoders make different objects from the same bytes")
	}
}

func pointers(list *corev1.PodList) []*corev1.Pod {
	all := make([]*corev1.Pod, len(list.Items))
	for i := range all {
		all[i] = &list.Items[i]
	}
	return all
}

// codec returns the encoder and the decoder of a generated client.
func codec(s runtime.Serializer) (runtime.Encoder, runtime.Decoder) {
	of := scheme.Codecs.WithoutConversion()
	return of.EncoderForVersion(s, corev1.SchemeGroupVersion), of.DecoderToVersion(s, corev1.SchemeGroupVersion)
}

// inProtobuf returns pods as a watch sends them, each in an envelope.
func inProtobuf(pod func(i int) *corev1.Pod) (decoding, error) {
	encoder, decoder := codec(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme))
	bodies, err := written(made().Pods(), func(i int) ([]byte, error) { return runtime.Encode(encoder, pod(i)) })
	if err != nil {
		return decoding{}, err
	}
	bare, err := written(made().Pods(), func(i int) ([]byte, error) {
		var envelope runtime.Unknown
		err := envelope.Unmarshal(bodies[i][len("k8s\x00"):])
		return envelope.Raw, err
	})
	return decoding{
		bodies: bodies, bare: bare,
		theirs: func(data []byte) (any, error) { return runtime.Decode(decoder, data) },
		ours: func() decode {
			d := protodecode.New(reflect.TypeFor[corev1.Pod](), protodecode.Options{Table: share.New(0), Values: true})
			return d.Decode
		},
	}, err
}

// asUnstructured returns custom resources for the dynamic client's decoder.
func asUnstructured() (decoding, error) {
	bodies, err := databases()
	return decoding{
		bodies: bodies,
		theirs: func(data []byte) (any, error) {
			u := &unstructured.Unstructured{}
			_, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, u)
			return u, err
		},
		ours: func() decode {
			d := jsondecode.NewUnstructured(jsondecode.Options{Table: share.New(0), Values: true})
			return func(data []byte) (any, error) {
				object, err := d.Decode(data)
				return &unstructured.Unstructured{Object: object}, err
			}
		},
	}, err
}

// asType returns the same custom resources for decoders into their Go type. client-go's decoder is
// measured without the client's search for the kind.
func asType() (decoding, error) {
	bodies, err := databases()
	return decoding{
		bodies: bodies,
		theirs: func(data []byte) (any, error) {
			d := new(cluster.Database)
			return d, utiljson.Unmarshal(data, d)
		},
		ours: func() decode {
			d := jsondecode.NewTyped(reflect.TypeFor[cluster.Database](), jsondecode.Options{Table: share.New(0), Values: true})
			return func(data []byte) (any, error) { return plainly(d, data) }
		},
	}, err
}

func databases() ([][]byte, error) {
	return written(made().Pods(), func(i int) ([]byte, error) { return utiljson.Marshal(made().Database(i)) })
}

// asList returns lists of pods in JSON, the clients' default.
func asList() (decoding, error) {
	encoder, decoder := codec(json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}))
	each := made().Pods() / 8
	bodies, err := written(8, func(i int) ([]byte, error) {
		list := &corev1.PodList{}
		for j := range each {
			list.Items = append(list.Items, *made().Pod(i*each + j))
		}
		return runtime.Encode(encoder, list)
	})
	return decoding{
		bodies: bodies,
		theirs: func(data []byte) (any, error) { return runtime.Decode(decoder, data) },
		ours: func() decode {
			d := jsondecode.NewTyped(reflect.TypeFor[corev1.Pod](), jsondecode.Options{Table: share.New(0), Values: true})
			return func(data []byte) (any, error) { return itemByItem(data, d) }
		},
	}, err
}

var errLeft = errors.New("tidemark leaves the object to client-go's decoder")

// plainly decodes an object that has no oddities.
func plainly(d *jsondecode.Typed, data []byte) (any, error) {
	object, plain := d.DecodePlain(data)
	if !plain {
		return nil, errLeft
	}
	return object, nil
}

// itemByItem decodes the items of a list as they arrive.
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
		object, err := plainly(d, item)
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
