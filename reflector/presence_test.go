package reflector

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/served"
)

func TestContract_D32_ResourceIsWaitedFor(t *testing.T)             { play(t) }
func TestContract_D32_ResourceIsTakenAwayAndComesBack(t *testing.T) { play(t) }
func TestContract_D32_A404DeletesNothing(t *testing.T)              { play(t) }
func TestContract_D32_OtherVersionsAreNotTheResource(t *testing.T)  { play(t) }
func TestContract_D32_NobodyMaySay(t *testing.T)                    { play(t) }
func TestContract_D32_AShortWatchProvesNothing(t *testing.T)        { play(t) }

var widgetGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// askable is the rig as a source that knows its resource, widgets. Its script also has the answers of
// discovery: lacks, or forbidden, or the served versions.
type askable struct{ *rig }

func (a askable) capabilities() capabilities {
	return capabilities{streams: a.Streaming, watchOver: func(random func() float64) *served.Resource {
		return served.New(a.document, widgetGVR, random)
	}}
}

func (a askable) document(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
	switch {
	case gv.Group == ".":
		return map[string]any{"kind": "APIGroupList"}, nil
	case gv.Version != "":
		return map[string]any{"kind": "APIResourceList", "resources": []any{
			map[string]any{"name": widgetGVR.Resource, "verbs": []any{"list", "watch"}},
		}}, nil
	}
	a.log("-> discovery of %s", gv.Group)
	answer := a.answer("discovery")
	switch answer {
	case "":
		<-ctx.Done()
		return nil, ctx.Err()
	case "lacks":
		return nil, failure(ctx, []string{"notfound"})
	case "forbidden":
		return nil, failure(ctx, []string{answer})
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

}

func resourceOf(s Source) watchOver { return capabilitiesOf(s).watchOver }

type wrapped struct{ Source }

func (w wrapped) Unwrap() Source { return w.Source }
