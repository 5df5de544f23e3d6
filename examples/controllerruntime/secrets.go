package main

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
)

// rotations prints which Deployments read a Secret that has changed, and what they own.
type rotations struct {
	deployments *indexer.Indexer[*appsv1.Deployment]
	replicaSets *indexer.Indexer[*appsv1.ReplicaSet]
	secrets     *indexer.Indexer[*corev1.Secret]
	out         *log.Logger
}

// setUpRotations adds the controller to a manager. Its requests are the Deployments that change, and
// those that refer to a Secret that changes.
func setUpRotations(ctx context.Context, m ctrl.Manager, out *log.Logger) error {
	c := &rotations{out: out}
	var err error
	if c.deployments, err = stored(ctx, m, &appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment]()); err != nil {
		return err
	}
	if c.replicaSets, err = stored(ctx, m, &appsv1.ReplicaSet{}, refs.ByOwner[*appsv1.ReplicaSet]()); err != nil {
		return err
	}
	if c.secrets, err = stored[*corev1.Secret](ctx, m, &corev1.Secret{}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).Named("rotations").
		For(&appsv1.Deployment{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(c.readers)).
		Complete(c)
}

// stored returns the store of the manager's informer of a kind, with more indexes. They are added before
// the manager starts, when that costs nothing.
func stored[T interface {
	client.Object
	informer.Object
}](ctx context.Context, m ctrl.Manager, example T, more ...indexer.Index[T]) (*indexer.Indexer[T], error) {
	i, err := m.GetCache().GetInformer(ctx, example)
	if err != nil {
		return nil, err
	}
	shared, _ := i.(toolscache.SharedIndexInformer)
	typed, ok := informer.As[T](shared)
	if !ok {
		return nil, fmt.Errorf("the manager's informer of %T is not tidemark's", example)
	}
	return typed.Indexer(), typed.AddIndexes(more...)
}

// readers returns the requests for the Deployments that refer to a Secret, wherever in their pods they do.
func (c *rotations) readers(_ context.Context, secret client.Object) (all []reconcile.Request) {
	keys, err := c.deployments.FindKeys(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: secret.GetNamespace(), Name: secret.GetName()}))
	if err != nil {
		panic(err) // the index was added
	}
	for _, k := range keys {
		all = append(all, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: k.Name}})
	}
	return all
}

// Reconcile prints what a Deployment reads and owns. The objects are the cache's own: they are not changed.
func (c *rotations) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	d, ok := c.deployments.Get(indexer.Key{Namespace: request.Namespace, Name: request.Name})
	if !ok {
		return reconcile.Result{}, nil // deleted
	}
	owned, err := c.replicaSets.Find(refs.OwnedBy(d))
	if err != nil {
		return reconcile.Result{}, err
	}
	var reads, owns []string
	for _, r := range refs.In(d.Namespace, d) {
		if secret, ok := c.secrets.Get(indexer.Key{Namespace: r.Namespace, Name: r.Name}); ok && r.Group == "" && r.Kind == "Secret" {
			reads = append(reads, secret.Name+" at "+secret.ResourceVersion)
		}
	}
	for s := range owned.All() {
		owns = append(owns, s.Name)
	}
	slices.Sort(reads)
	slices.Sort(owns)
	c.out.Printf("%s reads [%s] and owns [%s]", request, strings.Join(reads, " "), strings.Join(owns, " "))
	return reconcile.Result{}, nil
}
