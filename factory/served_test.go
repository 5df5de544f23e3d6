package factory_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Gizmo is the Go type of a custom resource.
type Gizmo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// DeepCopyObject is part of runtime.Object.
func (g *Gizmo) DeepCopyObject() runtime.Object {
	twin := *g
	g.DeepCopyInto(&twin.ObjectMeta)
	return &twin
}

// GizmoList is a list of Gizmos.
type GizmoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Gizmo `json:"items"`
}

// DeepCopyObject is part of runtime.Object.
func (l *GizmoList) DeepCopyObject() runtime.Object {
	twin := *l
	twin.Items = append([]Gizmo(nil), l.Items...)
	return &twin
}

var (
	gizmoVersion  = schema.GroupVersion{Group: "example.com", Version: "v1"}
	gizmoResource = gizmoVersion.WithResource("gizmos")
)

// gizmos is the typed client that client-gen would generate.
func gizmos(t *testing.T, config *rest.Config) *gentype.ClientWithList[*Gizmo, *GizmoList] {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(gizmoVersion, &Gizmo{}, &GizmoList{})
	metav1.AddToGroupVersion(scheme, gizmoVersion)
	config.GroupVersion, config.APIPath = &gizmoVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	return gentype.NewClientWithList[*Gizmo, *GizmoList]("gizmos", client, runtime.NewParameterCodec(scheme), "",
		func() *Gizmo { return &Gizmo{} }, func() *GizmoList { return &GizmoList{} })
}

type starter interface{ StartWithContext(ctx context.Context) }

func statusOf[T informer.Object](t *testing.T, shared cache.SharedIndexInformer) func() informer.Status {
	t.Helper()
	i, ok := informer.As[T](shared)
	require.True(t, ok)
	return i.Status
}

// The informers of all factories wait for a missing resource, report it, and sync soon after it is served.
func TestFactoriesWaitForTheirResources(t *testing.T) {
	for name, inform := range map[string]func(*testing.T, *rest.Config) (func() informer.Status, starter){
		"dynamic": func(t *testing.T, config *rest.Config) (func() informer.Status, starter) {
			f := factory.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
			return statusOf[*unstructured.Unstructured](t, f.ForResource(gizmoResource).Informer()), f
		},
		"metadata": func(t *testing.T, config *rest.Config) (func() informer.Status, starter) {
			f := factory.NewMetadataSharedInformerFactory(metadata.NewForConfigOrDie(config), 0)
			return statusOf[*metav1.PartialObjectMetadata](t, f.ForResource(gizmoResource).Informer()), f
		},
		"registered": func(t *testing.T, config *rest.Config) (func() informer.Status, starter) {
			f := factory.NewSharedInformerFactory(nil, 0)
			client := gizmos(t, config)
			require.NoError(t, factory.Register[*Gizmo](f, factory.Resource{GVR: gizmoResource, Source: func(string) (reflector.Source, error) {
				return reflector.FromCustomResource[*Gizmo](client, gizmoResource), nil
			}}))
			i, err := factory.For[*Gizmo](f)
			require.NoError(t, err)
			return i.Status, f
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := informertest.New(informertest.Options{})
				defer server.Close()
				require.NoError(t, server.StartInMemory())
				status, f := inform(t, server.ClientConfig())
				ctx, cancel := context.WithCancel(t.Context())
				f.StartWithContext(ctx)
				time.Sleep(time.Hour)
				require.ErrorIs(t, status().LastError, reflector.ErrNotServed)
				require.NotZero(t, status().NotServedSince)
				require.False(t, status().Synced)

				require.NoError(t, server.Register(informertest.Kind{GVR: gizmoResource, GVK: gizmoVersion.WithKind("Gizmo")}))
				time.Sleep(15 * time.Second)
				require.True(t, status().Synced)
				require.Zero(t, status().NotServedSince)
				cancel()
				synctest.Wait()
			})
		})
	}
}
