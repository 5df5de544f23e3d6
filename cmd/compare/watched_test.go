package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// Each library's informers are its own, for each way to read. Their handlers count additions, updates and
// deletions, but not the initial state.
func TestEachSideCountsByItsOwnLibrary(t *testing.T) {
	for side, pkg := range map[string]string{clientGo: "k8s.io/client-go/", tidemark: "github.com/tidemark-k8s/tidemark/"} {
		for _, how := range []reading{typed, metadata, dynamic} {
			t.Run(fmt.Sprint(side, " ", how), func(t *testing.T) {
				server := informertest.New(informertest.Options{})
				t.Cleanup(server.Close)
				require.NoError(t, server.StartInMemory())
				write := func(name string, how func(*corev1.ConfigMap) error) {
					require.NoError(t, how(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string]string{"at": time.Now().String()}}))
				}
				create := func(c *corev1.ConfigMap) error { return server.Create(t.Context(), c) }
				write("old", create)
				k := kind{"configmaps", corev1.SchemeGroupVersion.WithResource("configmaps"), true, how}
				w := start(t, side, server.ClientConfig(), k).informers[0]
				require.True(t, strings.HasPrefix(reflect.TypeOf(w.informer).Elem().PkgPath()+"/", pkg), "%T", w.informer)
				require.Eventually(t, w.synced, time.Minute, time.Millisecond)

				write("new", create)
				write("new", func(c *corev1.ConfigMap) error { return server.Update(t.Context(), c) })
				write("old", func(c *corev1.ConfigMap) error { return server.Delete(t.Context(), c) })

				require.Eventually(t, func() bool { _, versions := w.tally(); return len(versions) == 3 }, time.Minute, time.Millisecond)
				objects, versions := w.tally()
				require.Equal(t, 1, objects)
				require.EqualValues(t, 1, w.objects.Load())
				require.IsIncreasing(t, versions)
			})
		}
	}
}
