package reflector

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/around"
	"github.com/tidemark-k8s/tidemark/internal/served"
)

func TestContract_D32_ResourceIsWaitedFor(t *testing.T)             { play(t) }
func TestContract_D32_ResourceIsTakenAwayAndComesBack(t *testing.T) { play(t) }
func TestContract_D32_A404DeletesNothing(t *testing.T)              { play(t) }
func TestContract_D32_AnotherVersionIsANewHistory(t *testing.T)     { play(t) }
func TestContract_D32_NobodyMaySay(t *testing.T)                    { play(t) }
func TestContract_D32_TwoDiscoveriesAreAProof(t *testing.T)         { play(t) }

var widgetGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// askable is the rig as a source that knows its resource, widgets. Its script also has the answers
// about the resource:
//
//	definition: none, or forbidden, or the versions that it serves, or unready
//	definitions: open, then what the watch of the definition brings: versions, unready, deleted, pauses
//	discovery: lacks, or forbidden, or the versions
type askable struct {
	*rig
	version string
}

func (a *askable) watchOver(random func() float64) *served.Resource {
	return served.New(definitions{a.rig}, widgetGVR, true, random)
}

func (a *askable) move(version string) bool {
	a.log("-> served in %s", version)
	moved := version != a.version
	a.version = version
	return moved
}

func (a *askable) capabilities() capabilities {
	return capabilities{streams: a.Streaming, resource: a}
}

func (a *askable) isMoved() bool { return false }

func (a *askable) stay() {}

// definitions is the rig as the client that reads definitions.
type definitions struct{ rig *rig }

func (d definitions) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	d.rig.log("-> definition %s", o.FieldSelector)
	list := &unstructured.UnstructuredList{}
	list.SetResourceVersion("5")
	switch answer := d.rig.answer("definition"); answer {
	case "":
		<-ctx.Done()
		return nil, ctx.Err()
	case "forbidden":
		return nil, failure(ctx, []string{answer})
	case "none":
	default:
		list.Items = append(list.Items, *definition(strings.Fields(answer)))
	}
	return list, nil
}

// definition returns a CustomResourceDefinition that serves some versions, or is not ready.
func definition(versions []string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetName(widgetGVR.GroupResource().String())
	if versions[0] == "unready" {
		return u
	}
	var all []any
	for _, v := range versions {
		all = append(all, map[string]any{"name": v, "served": true})
	}
	u.Object["spec"] = map[string]any{"versions": all}
	u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	return u
}

func (d definitions) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	steps := strings.Split(d.rig.answer("definitions"), "|")
	w := watch.NewFake()
	go func() {
		for _, step := range steps[1:] {
			step = strings.TrimSpace(step)
			if pause, err := time.ParseDuration(step); err == nil {
				select {
				case <-time.After(pause):
					continue
				case <-ctx.Done():
					return
				}
			}
			if step == "deleted" {
				w.Delete(definition([]string{"unready"}))
			} else {
				w.Modify(definition(strings.Fields(step)))
			}
		}
	}()
	return w, nil
}

func (d definitions) Document(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
	switch {
	case gv.Group == ".":
		return map[string]any{"kind": "APIGroupList"}, nil
	case gv.Version != "":
		return map[string]any{"kind": "APIResourceList", "resources": []any{
			map[string]any{"name": widgetGVR.Resource, "verbs": []any{"list", "watch"}},
		}}, nil
	}
	d.rig.log("-> discovery of %s", gv.Group)
	answer := d.rig.answer("discovery")
	switch answer {
	case "lacks":
		return nil, failure(ctx, []string{"notfound"})
	case "forbidden", "":
		return nil, failure(ctx, []string{"forbidden"})
	}
	var versions []any
	for _, v := range strings.Fields(answer) {
		versions = append(versions, map[string]any{"version": v})
	}
	return map[string]any{"kind": "APIGroup", "versions": versions}, nil
}

// A reflector finds the resource of a wrapped source.
func TestWrappedSourcesKnowTheirResource(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	dynamically, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	partially, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	source := FromDynamic(dynamically, widgetGVR, "")
	tweaked := Tweak(source, func(*metav1.ListOptions) {})
	for name, s := range map[string]Source{"dynamic": source, "metadata": FromMetadata(partially, widgetGVR, ""), "tweaked": tweaked, "wrapped": wrapped{tweaked}} {
		require.NotNil(t, resourceOf(s), name)
	}
	require.Nil(t, resourceOf(From(dynamically.Resource(widgetGVR))), "it does not know its resource")
	require.Nil(t, resourceOf(FromDynamic(struct{ dynamic.Interface }{dynamically}, widgetGVR, "")), "a client of somebody else's")

	require.False(t, resourceOf(source).move("v1"))
	require.True(t, resourceOf(tweaked).move("v2"))
	require.False(t, resourceOf(source).move("v2"), "it is the same source")
	_, err = source.List(t.Context(), metav1.ListOptions{})
	require.ErrorContains(t, err, "/apis/example.com/v2/widgets")
	require.False(t, apierrors.IsNotFound(err))
}

func resourceOf(s Source) resourceSource { return capabilitiesOf(s).resource }

type wrapped struct{ Source }

func (w wrapped) Unwrap() Source { return w.Source }

// histories is a sink that records the histories passed to Begin.
type histories struct {
	Sink
	begun []History
}

func (h *histories) Begin(_ context.Context, history History) error {
	h.begun = append(h.begun, history)
	return nil
}
func (*histories) Write(context.Context, []deltafifo.Delta) error { return nil }
func (*histories) Commit(context.Context, string) error           { return nil }

// A source outlives its reflector. If the reflector has moved the source to another API version, and
// ends before a full state in that version, the next reflector begins a new history.
func TestAMoveOutlivesItsReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://server"}, &http.Client{Transport: answers(func(r *http.Request) string {
			if r.URL.Query().Get("watch") != "" {
				<-r.Context().Done()
			}
			return `{"kind":"WidgetList","apiVersion":"example.com/v2","metadata":{"resourceVersion":"9"},"items":[]}`
		})})
		require.NoError(t, err)
		source := FromDynamic(client, widgetGVR, "")
		require.True(t, resourceOf(source).move("v2"))
		sink := &histories{}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			require.NoError(t, New(listed{source}, sink, Options{Version: "5"}).Run(ctx))
			cancel()
		}
		require.Equal(t, []History{NewHistory, SameHistory}, sink.begun)
	})
}

// listed is a source that cannot stream.
type listed struct{ Source }

func (l listed) Around() around.Source[Source] {
	return around.Source[Source]{Inner: l.Source, ListOnly: true}
}

// answers is a transport that answers with JSON.
type answers func(*http.Request) string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(a(r)))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
}
