//go:build unix

package jsondecode

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// siblings is the number of objects that a benchmark decodes. They differ like the objects of one
// workload.
const siblings = 2000

// texts returns the encoded objects for the benchmarks.
func texts(b *testing.B) map[string][][]byte {
	b.Helper()
	t := map[string][][]byte{}
	for n := range siblings {
		t["pod"] = append(t["pod"], podNumber(b, n))
		t["resource"] = append(t["resource"], resourceNumber(n))
	}
	return t
}

// measure decodes the texts in turn. It also reports the memory per object.
func measure(b *testing.B, texts [][]byte, decode func([]byte) (any, error)) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(texts[0])))
	worked := process.CPU()
	for n := 0; b.Loop(); n++ {
		if _, err := decode(texts[n%len(texts)]); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(process.CPU()-worked)/float64(b.N), "cpu-ns/op")
	kept := make([]any, 0, len(texts))
	before := float64(process.Heap())
	for _, text := range texts {
		v, err := decode(text)
		require.NoError(b, err)
		kept = append(kept, v)
	}
	b.ReportMetric((float64(process.Heap())-before)/float64(len(texts)), "heap-B/object")
	runtime.KeepAlive(kept)
}

// mode is a way to share values.
type mode struct {
	name    string
	options Options
}

func modes() []mode {
	return []mode{{"unshared", Options{}}, {"strings", Options{Table: share.New(0)}}, {"values", Options{Table: share.New(0), Values: true}}}
}

func BenchmarkUnstructured(b *testing.B) {
	for name, texts := range texts(b) {
		b.Run(name+"/clientgo", func(b *testing.B) {
			measure(b, texts, func(data []byte) (any, error) {
				u := &unstructured.Unstructured{}
				_, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, u)
				return u, err
			})
		})
		for _, o := range modes() {
			b.Run(name+"/"+o.name, func(b *testing.B) {
				d := NewUnstructured(o.options)
				measure(b, texts, func(data []byte) (any, error) { return d.Decode(data) })
			})
		}
	}
}

func BenchmarkTyped(b *testing.B) {
	texts := texts(b)["pod"]
	b.Run("clientgo", func(b *testing.B) {
		measure(b, texts, func(data []byte) (any, error) {
			p := new(corev1.Pod)
			return p, utiljson.Unmarshal(data, p)
		})
	})
	for _, o := range modes() {
		b.Run(o.name, func(b *testing.B) {
			d := NewTyped(reflect.TypeFor[corev1.Pod](), o.options)
			measure(b, texts, func(data []byte) (any, error) { return d.Decode(data) })
		})
	}
}

// BenchmarkList reads lists of 100 similar resources. The results are per list.
func BenchmarkList(b *testing.B) {
	var lists [][]byte
	resources := texts(b)["resource"]
	for i := 0; i < len(resources); i += 100 {
		list := append([]byte(`{"apiVersion":"example.com/v1","items":[`), bytes.Join(resources[i:i+100], []byte(","))...)
		lists = append(lists, append(list, `],"kind":"RolloutList","metadata":{"resourceVersion":"1"}}`...))
	}
	b.Run("clientgo", func(b *testing.B) {
		measure(b, lists, func(data []byte) (any, error) {
			list, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
			return list, err
		})
	})
	for _, o := range modes() {
		b.Run(o.name, func(b *testing.B) {
			d := NewUnstructured(o.options)
			measure(b, lists, func(data []byte) (any, error) { return decodeList(d, data) })
		})
	}
}

func decodeList(d *Unstructured, data []byte) (items []map[string]any, err error) {
	l := NewList(bytes.NewReader(data))
	for {
		raw, err := l.Next()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
		item, err := d.Decode(raw)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
}

func BenchmarkScan(b *testing.B) {
	data := podNumber(b, 1)
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		var t text
		began := process.CPU()
		for b.Loop() {
			require.True(b, t.scan(data))
		}
		b.ReportMetric(float64(process.CPU()-began)/float64(b.N), "cpu-ns/op")
	})
	b.Run("identity", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, ok := ReadIdentity(data)
			require.True(b, ok)
		}
	})
	b.Run("list", func(b *testing.B) {
		list := append(bytes.Repeat(append(data, ','), 999), data...)
		list = append([]byte(`{"items":[`), append(list, "]}"...)...)
		b.SetBytes(int64(len(list)))
		b.ReportAllocs()
		for b.Loop() {
			for l := NewList(bytes.NewReader(list)); ; {
				if _, err := l.Next(); err != nil {
					break
				}
			}
		}
	})
}
