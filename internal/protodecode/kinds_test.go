package protodecode

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// kinds are all object types that have a protobuf encoding.
func kinds() []reflect.Type {
	known := []reflect.Type{reflect.TypeFor[metav1.PartialObjectMetadata](), reflect.TypeFor[deep]()}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gotype.Of(t).Decodes&gotype.Protobuf != 0 && gvk.Version != "__internal" && !strings.HasSuffix(gvk.Kind, "List") {
			known = append(known, t)
		}
	}
	return known
}

type marshaler interface{ Marshal() ([]byte, error) }

// twins are an object decoded by this package and by the generated code.
type twins struct{ ours, theirs any }

// generated decodes with the generated code.
func generated(t reflect.Type, data []byte, drop *fields.Set) (any, error) {
	v := reflect.New(t)
	if err := v.Interface().(unmarshaler).Unmarshal(data); err != nil {
		return nil, err
	}
	drop.Cut(v.Interface())
	return v.Interface(), nil
}

func TestDecode_EveryKind(t *testing.T) {
	tier.SkipRaced(t)
	drop, err := fields.Parse("metadata.managedFields", "spec.containers.env", "spec.template.spec.volumes", "status")
	require.NoError(t, err)
	for name, o := range map[string]Options{
		"plain":   {},
		"strings": {Table: share.New(0)},
		"values":  {Table: share.New(0), Values: true},
		"drop":    {Table: share.New(0), Values: true, Drop: drop},
	} {
		t.Run(name, func(t *testing.T) {
			for seed, kind := range kinds() {
				if o.Table != nil {
					o.Table = share.New(0)
				}
				decodeMany(t, kind, o, uint64(seed))
			}
		})
	}
}

// decodeMany decodes objects with many equal values. At the end it compares all of them again, because
// no shared value may have changed.
func decodeMany(t *testing.T, kind reflect.Type, o Options, seed uint64) {
	d, all := New(kind, o), []twins{}
	for round := range uint64(12) {
		object := reflect.New(kind)
		newFiller(seed+round/3).fill(object.Elem(), 9)
		data, err := object.Interface().(marshaler).Marshal()
		require.NoError(t, err)
		theirs, err := generated(kind, data, o.Drop)
		require.NoError(t, err)
		ours, err := d.Decode(data)
		require.NoError(t, err)
		require.True(t, planned(d, data), kind)
		clear(data)
		requireEqual(t, theirs, ours)
		all = append(all, twins{ours, theirs})
	}
	for _, both := range all {
		requireEqual(t, both.theirs, both.ours)
	}
}

func requireEqual(t *testing.T, theirs, ours any) {
	t.Helper()
	if !reflect.DeepEqual(theirs, ours) {
		require.Equal(t, theirs, ours)
		require.Fail(t, "the objects differ, but print the same", "%T", ours)
	}
}
