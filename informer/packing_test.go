package informer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestSmoke(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	server.StartInMemory()
	config := server.ClientConfig()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(config)
	ctx := t.Context()
	for i := range 200 {
		pod := kit.RunningPod("web", i)
		pod.ResourceVersion = ""
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	var errs []error
	i := informer.New[*corev1.Pod](reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods")), informer.Options[*corev1.Pod]{
		Storage:      informer.Storage{Decoded: informer.NewBudget(100 << 10)},
		LabelIndexes: []string{"app"},
		Indexes:      []indexer.Index[*corev1.Pod]{{Name: "node", Append: func(v []string, p *corev1.Pod) []string { return append(v, p.Spec.NodeName) }}},
		Observe: func(e informer.Event) {
			if e, ok := e.(*informer.StorageError); ok {
				errs = append(errs, e)
			}
		},
	})
	n := 0
	_, err := i.Handle(informer.Funcs[*corev1.Pod]{Added: func(p *corev1.Pod) { n++ }}, informer.HandlerOptions{})
	require.NoError(t, err)
	run, cancel := context.WithTimeout(ctx, time.Minute)
	done := make(chan error)
	go func() { done <- i.Run(run) }()
	require.NoError(t, i.WaitSynced(ctx))
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	for n := range list.Items {
		got, ok := i.Indexer().Get(indexer.Key{Namespace: list.Items[n].Namespace, Name: list.Items[n].Name})
		require.True(t, ok)
		require.Equal(t, &list.Items[n], got)
	}
	fmt.Printf("%+v\n", i.Status().Storage)
	cancel()
	<-done
	require.Equal(t, 200, n)
	require.Empty(t, errs)
}
