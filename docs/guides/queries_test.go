package guides

import (
	"context"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
)

// queries finds Deployments by a label, and by a Secret that they refer to.
func queries(ctx context.Context, config *rest.Config, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactory(client, 0)
	defer f.Shutdown()
	err = factory.Configure(f, informer.Options[*appsv1.Deployment]{
		Indexes: []indexer.Index[*appsv1.Deployment]{refs.ByReference[*appsv1.Deployment]()},
	})
	if err != nil {
		return err
	}
	deployments, err := factory.For[*appsv1.Deployment](f)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(ctx)
	if err := deployments.WaitSynced(ctx); err != nil {
		return err
	}

	// Labels select without an index of your own: the store makes one when it is worth it.
	web := labels.SelectorFromSet(labels.Set{"tier": "web"})
	found, err := deployments.Indexer().Find(indexer.Query{Namespace: "shop", Labels: web})
	if err != nil {
		return err
	}
	for d := range found.All() {
		out.Println(d.Name, "has the label")
	}
	// Pod templates refer to Secrets in volumes, environment variables and pull secrets: the index knows them all.
	found, err = deployments.Indexer().Find(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: "shop", Name: "tls"}))
	if err != nil {
		return err
	}
	for d := range found.All() {
		out.Println(d.Name, "reads the Secret")
	}
	return nil
}

func Example_queries() {
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"tier": "web"}}}
	proxy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "proxy"}}
	proxy.Spec.Template.Spec.Volumes = []corev1.Volume{
		{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
	}
	on(queries, web, proxy)
	// Output:
	// web has the label
	// proxy reads the Secret
}
