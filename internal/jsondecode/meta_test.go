package jsondecode

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestReadMeta(t *testing.T) {
	for _, row := range []struct {
		item, uid, version string
		ok                 bool
	}{
		{`{"metadata":{"uid":"u","resourceVersion":"7"}}`, "u", "7", true},
		{` { "kind" : "A" , "spec":[{"metadata":{"uid":"x"}},"}\"]"],"metadata" : { "managedFields":[{"f:uid":{}}], "resourceVersion" : "7" , "uid" : "ü" } , "b":1} `, "ü", "7", true},
		{`{"metadata":{"uid":""}}`, "", "", true},
		{`{"metadata":{"labels":{"uid":"x"},"ownerReferences":[{"uid":"x"}],"generation":3,"a":null,"uid":"u"}}`, "u", "", true},
		{`{"a":"\\","metadata":{"uid":"u"}}`, "u", "", true},
		{item: `{"metadata":{"uid":null}}`},
		{item: `{"metadata":{"uid":7}}`},
		{item: `{"metadata":{"uid":{"a":"b"}}}`},
		{item: `{"metadata":{"uid":"\u0075"}}`},
		{item: "{\"metadata\":{\"uid\":\"\xff\"}}"},
		{item: `{"metadata":{"uid":"u","uid":"u"}}`},
		{item: `{"metadata":{"uid":"u","\u0075id":"v"}}`},
		{item: `{"met\u0061data":{"uid":"u"},"metadata":{"uid":"v"}}`},
		{item: `{"metadata":{"uid":"u","resourceVersion":7}}`},
		{item: `{"metadata":{"name":"a"}}`},
		{item: `{"metadata":null}`},
		{item: `{"metadata":["uid","u"]}`},
		{item: `{"spec":{"metadata":{"uid":"u"}}}`},
		{item: `{"uid":"u"}`},
		{item: `{"metadata":{"uid":"u"`},
		{item: `{"metadata":{"uid":"u`},
		{item: `{"metadata":{"uid":"u",`},
		{item: `{"metadata":{"a":[{"uid":"u"`},
		{item: `{"metadata":{"a":"\`},
		{item: `{"metadata":{"uid":}}`},
		{item: `{"metadata"`},
		{item: `[]`}, {item: `null`}, {item: `{}`}, {item: ``},
	} {
		uid, version, ok := ReadMeta([]byte(row.item), "uid")
		require.Equal(t, row.ok, ok, row.item)
		if ok {
			require.Equal(t, []string{row.uid, row.version}, []string{string(uid), string(version)}, row.item)
		}
	}
	namespace, version, ok := ReadMeta([]byte(`{"metadata":{"uid":"u","resourceVersion":"7","namespace":"ns"}}`), "namespace")
	require.True(t, ok)
	require.Equal(t, []string{"ns", "7"}, []string{string(namespace), string(version)})
}

func TestReadMetaAllocatesNothing(t *testing.T) {
	for _, item := range [][]byte{resourceNumber(1), podNumber(t, 1)} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if _, _, ok := ReadMeta(item, "uid"); !ok {
				t.Fail()
			}
		}))
	}
}

// FuzzReadMeta compares the result of ReadMeta with the decoded object, if the item can be decoded.
func FuzzReadMeta(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	for _, text := range []string{
		`{"metadata":{"uid":"u","namespace":"n","resourceVersion":"7"}}`, `{"metadata":{"uid":"u\n","namespace":"\u00fc"}}`,
		`{"metadata":{"uid":"u","uid":"v"},"a":"\""}`, ` { "metadata" : { "a" : [ { } ] , "uid" : "" } } `,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uid, version, ok := ReadMeta([]byte(text), "uid")
		namespace, _, okNamespace := ReadMeta([]byte(text), "namespace")
		members, isObject := slowMembers([]byte(text))
		metadata := 0
		for _, m := range members {
			if m.key == "metadata" {
				metadata++
			}
		}
		if !isObject || metadata > 1 {
			return
		}
		typed := &metav1.PartialObjectMetadata{}
		var loose map[string]any
		if utiljson.Unmarshal([]byte(text), &loose) != nil {
			return
		}
		m, _ := loose["metadata"].(map[string]any)
		for _, of := range []struct {
			ok         bool
			name, read string
		}{{ok, "uid", string(uid)}, {ok && version != nil, "resourceVersion", string(version)}, {okNamespace, "namespace", string(namespace)}} {
			if of.ok {
				require.Equal(t, m[of.name], any(of.read))
			}
		}
		if utiljson.Unmarshal([]byte(text), typed) != nil {
			return
		}
		if ok {
			require.Equal(t, []string{string(typed.UID), typed.ResourceVersion}, []string{string(uid), string(version)})
		}
		if okNamespace {
			require.Equal(t, typed.Namespace, string(namespace))
		}
	})
}

// BenchmarkReadMeta reads the uid of an item after its managed fields, as in a custom resource, and
// before them.
func BenchmarkReadMeta(b *testing.B) {
	for name, item := range map[string][]byte{"behind": resourceNumber(1), "before": podNumber(b, 1)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(item)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := ReadMeta(item, "uid"); !ok {
					b.Fail()
				}
			}
		})
	}
}
