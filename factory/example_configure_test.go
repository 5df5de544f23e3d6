package factory_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Configure sets the options of one type: here of Secrets. The program reads only their type, and
// looks them up by it.
func ExampleConfigure() {
	secret := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.key": []byte("...")}}
	secret.Namespace, secret.Name = "prod", "cert"
	f := factory.NewSharedInformerFactory(fake.NewClientset(secret), 0)
	err := factory.Configure(f, informer.Options[*corev1.Secret]{
		Indexes: []indexer.Index[*corev1.Secret]{{Name: "type", Append: func(values []string, s *corev1.Secret) []string {
			return append(values, string(s.Type))
		}}},
		Transform: func(s *corev1.Secret) (*corev1.Secret, error) {
			s.Data = nil // not kept in memory
			return s, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	secrets, err := factory.For[*corev1.Secret](f)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	fmt.Println(secrets.WaitSynced(ctx))
	for s := range secrets.Indexer().By("type", string(corev1.SecretTypeTLS)) {
		fmt.Println(s.Name, len(s.Data))
	}
	cancel()
	f.Shutdown()
	// Output:
	// <nil>
	// cert 0
}
