package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func (gadgets) GetNamespace() string { return "" }

func (gadgets) List(context.Context, metav1.ListOptions) (*gadgetList, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

func (gadgets) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

// What a program changes in one object is not seen in another one, in all places that the contract
// names, without a transform and with one.
func TestContract_D29_WhatProgramsWriteIntoIsNotShared(t *testing.T) {
	const spec = `{"memo":{"pattern":"a*"},"memos":[{"pattern":"b*"}],"hooks":[{"name":"h","config":{"a":1}}],` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"a":"b"}},"templates":[{"metadata":{"labels":{"app":"web"}},"spec":{"a":"b"}}],` +
		`"config":{"data":{"values":{"a":"b"},"order":["a"]}},"selector":{"nodeSelector":{"disk":"fast"}},"plain":{"a":"b"}}`
	writes := map[string]struct {
		write func(g *Gadget)
		read  func(g *Gadget) any
	}{
		"a field that JSON does not reach, behind a pointer": {
			func(g *Gadget) { g.Spec.Memo.Answer = &g.Name }, func(g *Gadget) any { return g.Spec.Memo.Answer }},
		"a field that JSON does not reach, in a list": {
			func(g *Gadget) { g.Spec.Memos[0].Answer = &g.Name }, func(g *Gadget) any { return g.Spec.Memos[0].Answer }},
		"metadata of another type": {
			func(g *Gadget) { g.Spec.Template.Metadata.Labels["app"] = g.Name }, func(g *Gadget) any { return g.Spec.Template.Metadata.Labels["app"] }},
		"metadata of another type, made anew": {
			func(g *Gadget) { g.Spec.Template.Metadata.Labels = map[string]string{} }, func(g *Gadget) any { return g.Spec.Template.Metadata.Labels }},
		"metadata of another type, in a list": {
			func(g *Gadget) { g.Spec.Templates[0].Metadata.Labels["app"] = g.Name }, func(g *Gadget) any { return g.Spec.Templates[0].Metadata.Labels["app"] }},
		"a map in a struct named data": {
			func(g *Gadget) { g.Spec.Config.Data.Values["a"] = g.Name }, func(g *Gadget) any { return g.Spec.Config.Data.Values["a"] }},
		"a slice in a struct named data": {
			func(g *Gadget) { g.Spec.Config.Data.Order[0] = g.Name }, func(g *Gadget) any { return g.Spec.Config.Data.Order[0] }},
		"a node selector behind a pointer": {
			func(g *Gadget) { (*g.Spec.Selector.NodeSelector)["disk"] = g.Name }, func(g *Gadget) any { return (*g.Spec.Selector.NodeSelector)["disk"] }},
	}
	for name, o := range map[string]informer.Options[*Gadget]{
		"decoded":     {},
		"transformed": {Transform: func(g *Gadget) (*Gadget, error) { return g, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := gadgetsLike(t, 40, spec, o)
				for what, w := range writes {
					for n := range 39 {
						before := w.read(gadget(t, i, fmt.Sprint("g", n+1)))
						w.write(gadget(t, i, fmt.Sprint("g", n)))
						if !assert.Equal(t, before, w.read(gadget(t, i, fmt.Sprint("g", n+1))), what) {
							break
						}
					}
				}
				same := 0
				for n := range 39 {
					a, b := gadget(t, i, fmt.Sprint("g", n)), gadget(t, i, fmt.Sprint("g", n+1))
					if mapAt(a.Spec.Plain) == mapAt(b.Spec.Plain) {
						same++
					}
				}
				require.Greater(t, same, 30, "other values are shared")
			})
		})
	}
}

func mapAt(m map[string]string) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// A shared Quantity equals one that is not shared, however the server spells it: a handler that compares two
// objects sees no change.
func TestContract_D29_QuantitiesThatAreShared(t *testing.T) {
	const limits = `{"cpu":"0.5","memory":"2048Mi","disk":"128Mi","pods":"1000"}`
	var want corev1.ResourceList
	require.NoError(t, json.Unmarshal([]byte(limits), &want))
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 40, `{"limits":`+limits+`}`, informer.Options[*Gadget]{})
		for n := range 40 {
			require.Equal(t, want, gadget(t, i, fmt.Sprint("g", n)).Spec.Limits)
		}
		require.NotZero(t, i.Status().Totals.Shared)
	})
}

// Two programs that append to shared bytes each get a copy: shared slices have no room.
func TestSharedBytesHaveNoRoom(t *testing.T) {
	const spec = `{"hooks":[{"name":"h","config":{"long":"enough for some room behind it"}}]}`
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 10, spec, informer.Options[*Gadget]{})
		var raws [][]byte
		for n := range 10 {
			raw := gadget(t, i, fmt.Sprint("g", n)).Spec.Hooks[0].Config.Raw
			raws = append(raws, append(raw, byte('0'+n)))
		}
		for n, raw := range raws {
			require.Equal(t, string(rune('0'+n)), string(raw[len(raw)-1:]))
		}
	})
}

// A type may keep the bytes from which it is decoded.
func TestTypesMayKeepTheirBytes(t *testing.T) {
	for _, odd := range []string{"", `"plain":{"a":"b"},"plain":{"c":"d"},`} {
		synctest.Test(t, func(t *testing.T) {
			i := gadgetsLike(t, 2000, `{`+odd+`"keeper":{"kept":"by object #"}}`, informer.Options[*Gadget]{})
			for n := range 2000 {
				require.JSONEq(t, fmt.Sprintf(`{"kept":"by object %d"}`, n), string(gadget(t, i, fmt.Sprint("g", n)).Spec.Keeper.Bytes))
			}
		})
	}
}

// A type that decodes itself may look at the informer: its method is not called under the lock of the
// shared values.
func TestTypesThatDecodeThemselvesMayLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		var i *informer.Informer[*Gadget]
		gadgetsOf(t, 10, `{"looker":{},"plain":{"a":"b"}}`, informer.Options[*Gadget]{}, func(made *informer.Informer[*Gadget]) {
			i = made
			at := func() {
				looked++
				i.Status()
				i.Inspector().Memory()
				i.Inspector().Decoding()
			}
			look.Store(&at)
			t.Cleanup(func() { look.Store(nil) })
		})
		require.GreaterOrEqual(t, looked, 10)
		require.NotZero(t, i.Status().Totals.Shared)
	})
}

// What a transform writes into an object is in that object alone, also where the object would share a value
// with others; and the objects that it leaves as they are still share it.
func TestContract_D29_WhatATransformWritesIntoIsNotShared(t *testing.T) {
	const spec = `{"plain":{"a":"b"},"hooks":[{"name":"h","config":{"a":1}}]}`
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 60, spec, informer.Options[*Gadget]{Transform: func(g *Gadget) (*Gadget, error) {
			switch number := g.UID[1:]; number[len(number)-1] {
			case '1':
				g.Spec.Plain["a"] = g.Name
			case '2':
				delete(g.Spec.Plain, "a")
			case '3':
				g.Spec.Hooks[0].Name = g.Name
			case '4':
				g.Spec.Hooks[0].Config.Raw[5] = '2' // {"a":2}
			case '5':
				g.Spec.Hooks = g.Spec.Hooks[:0]
			}
			return g, nil
		}})
		var unchanged []*Gadget
		for n := range 60 {
			g := gadget(t, i, fmt.Sprint("g", n))
			plain, name, raw := map[string]string{"a": "b"}, "h", `{"a":1}`
			switch n % 10 {
			case 1:
				plain["a"] = g.Name
			case 2:
				delete(plain, "a")
			case 3:
				name = g.Name
			case 4:
				raw = `{"a":2}`
			case 5:
				require.Empty(t, g.Spec.Hooks, g.Name)
				g.Spec.Hooks = []hook{{Name: name, Config: kruntime.RawExtension{Raw: []byte(raw)}}}
			default:
				unchanged = append(unchanged, g)
			}
			require.Equal(t, plain, g.Spec.Plain, g.Name)
			require.Equal(t, name, g.Spec.Hooks[0].Name, g.Name)
			require.Equal(t, raw, string(g.Spec.Hooks[0].Config.Raw), g.Name)
		}
		a, b := unchanged[len(unchanged)-2].Spec, unchanged[len(unchanged)-1].Spec
		require.Equal(t, mapAt(a.Plain), mapAt(b.Plain))
		require.Same(t, unsafe.SliceData(a.Hooks), unsafe.SliceData(b.Hooks))
	})
}

// A transform may hand its object on, to somebody who only reads it: the object is not written into
// after the transform has returned.
func TestWhatATransformReturnsIsNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type seen struct {
			obj   *Gadget
			plain unsafe.Pointer
			hooks *hook
		}
		var all []seen
		i := gadgetsLike(t, 20, `{"plain":{"a":"b"},"hooks":[{"name":"h","config":{"a":1}}]}`, informer.Options[*Gadget]{
			Transform: func(g *Gadget) (*Gadget, error) {
				all = append(all, seen{g, mapAt(g.Spec.Plain), unsafe.SliceData(g.Spec.Hooks)})
				go func() { _ = len(g.Spec.Plain) + len(g.Spec.Hooks) }() // the race detector looks on
				return g, nil
			},
		})
		require.Len(t, all, 20)
		shared := 0
		for n, s := range all {
			require.Equal(t, s.plain, mapAt(s.obj.Spec.Plain), n)
			require.Same(t, s.hooks, unsafe.SliceData(s.obj.Spec.Hooks), n)
			if mapAt(gadget(t, i, s.obj.Name).Spec.Plain) != s.plain {
				shared++
			}
		}
		require.Greater(t, shared, 10, "the stored objects share")
	})
}

func TestWhatATransformReturnsIsNotChangedUntyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []*unstructured.Unstructured
		var roots []unsafe.Pointer
		client := wiredDynamic(t, lists(untypedList("Gadget", 20, `"spec":{"plain":{"a":"b"}}`)))
		i := informer.New(reflector.FromDynamic(client, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}, ""), informer.Options[*unstructured.Unstructured]{
			Observe: rig.Observed,
			Transform: func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				all, roots = append(all, u), append(roots, anyMapAt(u.Object))
				go func() { _ = len(u.Object) }()
				return u, nil
			},
		})
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Len(t, all, 20)
		for n, u := range all {
			require.Equal(t, roots[n], anyMapAt(u.Object), n)
		}
	})
}

func anyMapAt(m map[string]any) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// The events behind one whose brackets do not match are not lost with it.
func TestBracketsThatDoNotMatchSwallowNothing(t *testing.T) {
	for _, event := range []string{`{"type":"MODIFIED","object":[[}}`, `{"type":"MODIFIED","object":{"a":[}]}}`, `{"x":{"a":{]}}}`} {
		synctest.Test(t, func(t *testing.T) {
			transport := &answers{}
			listed := 0
			transport.answer = func(r *http.Request) *http.Response {
				switch q := r.URL.Query(); {
				case q.Get("sendInitialEvents") != "":
					return says(400, "")
				case q.Get("watch") == "":
					listed++
					return says(200, untypedList("Gadget", listed, `"spec":{}`))
				case listed == 1:
					return open(r, event+"\n")
				}
				return open(r, "")
			}
			i := informer.New(reflector.FromDynamic(wiredDynamic(t, transport), schema.GroupVersionResource{Version: "v1", Resource: "gadgets"}, ""), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
			rig.Start(t, i)
			require.NoError(t, i.WaitSynced(t.Context()))
			time.Sleep(time.Minute) // the watch would last five
			require.Equal(t, 2, i.Indexer().Len())
			require.NotZero(t, i.Status().Errors)
		})
	}
}

func (gadgetFake) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// Dropped fields are missing whoever decodes the objects, also behind the keys of maps.
func TestDroppedFieldsBelowMapKeys(t *testing.T) {
	const spec = `{"parts":{"a":{"name":"n","secret":"s"},"b":{"name":"n","secret":"s"}},"plain":{"token":"t","other":"o"}}`
	wanted := gadgetSpec{Parts: map[string]gadgetPart{"a": {Name: "n"}, "b": {"n", "s"}}, Plain: map[string]string{"other": "o"}}
	o := informer.Options[*Gadget]{Observe: rig.Observed, Decoding: reflector.Decoding{Drop: []string{"spec.parts.a.secret", "spec.plain.token"}}}
	t.Run("by the reflector", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			i := gadgetsLike(t, 5, spec, o)
			for g := range i.Indexer().All() {
				require.Equal(t, wanted, g.Spec)
			}
		})
	})
	t.Run("by a fake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := Gadget{ObjectMeta: metav1.ObjectMeta{Name: "g", ResourceVersion: "1"}}
			require.NoError(t, json.Unmarshal([]byte(spec), &g.Spec))
			i := informer.New(rig.SourceOf(gadgetFake{&gadgetItems{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []Gadget{g}}}), o)
			rig.Start(t, i)
			require.NoError(t, i.WaitSynced(t.Context()))
			require.Equal(t, wanted, gadget(t, i, "g").Spec)
			require.Len(t, g.Spec.Plain, 2, "the fake's object stays as it is")
		})
	})
}
