package reflector_test

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// store is a sink that writes into a store without an informer.
type store struct {
	writer *indexer.Writer
	staged *indexer.Staging // nil unless a full state arrives
}

func (s *store) Begin(context.Context, reflector.History) error {
	s.staged = s.writer.Stage(0)
	return nil
}

func (s *store) Write(_ context.Context, batch []deltafifo.Delta) error {
	if s.staged != nil {
		for _, d := range batch {
			switch d.Op {
			case deltafifo.Added, deltafifo.Modified:
				s.staged.Put(d.Key, d.Object, 0)
			case deltafifo.Deleted, deltafifo.Poisoned:
				s.staged.Drop(d.Key)
			}
		}
		return nil
	}
	tx := s.writer.Begin()
	defer tx.Commit()
	for _, d := range batch {
		switch d.Op {
		case deltafifo.Added, deltafifo.Modified:
			tx.Put(0, d.Key, d.Object, 0)
		case deltafifo.Deleted:
			tx.Delete(d.Key)
		}
		if d.Version != "" {
			tx.SetVersion(d.Version)
		}
	}
	return nil
}

func (s *store) Commit(_ context.Context, version string) error {
	s.staged.Commit(version, indexer.Visitor{})
	s.staged = nil
	return nil
}

func (s *store) Abort(context.Context) error {
	s.staged = nil
	return nil
}

// A sink of your own gets the objects of a source without an informer: here, to list them once.
func ExampleSink() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	for _, name := range []string{"web", "db"} {
		if err := server.Create(context.Background(), pod(name, "")); err != nil {
			fmt.Println(err)
			return
		}
	}
	writer, err := indexer.New(indexer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := reflector.New(server.Source(podResource, ""), &store{writer: writer}, reflector.Options{
		Observe: func(e reflector.Event) {
			if listed, ok := e.(reflector.Listed); ok {
				fmt.Println("objects:", listed.Objects)
				cancel()
			}
		},
	})
	if err := r.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	var names []string
	for p := range indexer.View[*corev1.Pod](writer.Indexer()).All() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	fmt.Println(names, "at the reflector's version:", writer.Indexer().Version() == r.Version())
	// Output:
	// objects: 2
	// [db web] at the reflector's version: true
}

// The newest version of a source is at least that of each write before the call.
func ExampleNewest() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	ctx, web := context.Background(), pod("web", "")
	if err := server.Create(ctx, web); err != nil {
		fmt.Println(err)
		return
	}
	version, err := reflector.Newest(ctx, server.Source(podResource, ""))
	fmt.Println(version == web.ResourceVersion, err)
	// Output: true <nil>
}

// Each of two replicas reads a half of the namespaces.
func ExampleOptions_share() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, namespace := range []string{"shop", "blog", "mail", "cart"} {
		p := pod("web", "")
		p.Namespace = namespace
		if err := server.Create(ctx, p); err != nil {
			fmt.Println(err)
			return
		}
	}
	half, err := shard.Nth(shard.ByNamespace, 0, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	writer, err := indexer.New(indexer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := reflector.New(server.Source(podResource, ""), &store{writer: writer}, reflector.Options{
		Share: half,
		Observe: func(e reflector.Event) {
			if _, ok := e.(reflector.Listed); ok {
				cancel()
			}
		},
	})
	if err := r.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("in this half:", writer.Indexer().Len())
	// Output: in this half: 2
}
