package reflector_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// mirror is a sink that holds the objects of a share, and refuses others.
type mirror struct {
	t     *testing.T
	share shard.Set

	mu      sync.Mutex
	looked  chan struct{}
	objects map[indexer.Key]string // their versions
	version string
}

func newMirror(t *testing.T, share shard.Set) *mirror {
	return &mirror{t: t, share: share, looked: make(chan struct{}, 1), objects: map[indexer.Key]string{}}
}

func (m *mirror) change(change func()) {
	m.mu.Lock()
	change()
	m.mu.Unlock()
	select {
	case m.looked <- struct{}{}:
	default:
	}
}

func (m *mirror) Begin(context.Context, reflector.History) error { return nil }
func (m *mirror) Abort(context.Context) error                    { return nil }

func (m *mirror) Commit(_ context.Context, version string) error {
	m.change(func() { m.version = version })
	return nil
}

func (m *mirror) Write(_ context.Context, batch []deltafifo.Delta) error {
	m.change(func() {
		for _, d := range batch {
			switch d.Op {
			case deltafifo.Added, deltafifo.Modified:
				of := d.Object.(metav1.Object)
				if !m.share.Has(of.GetNamespace(), of.GetUID()) {
					m.t.Errorf("%v is foreign", d.Key)
				}
				m.objects[d.Key] = d.Version
			case deltafifo.Deleted:
				delete(m.objects, d.Key)
			}
			if m.version != "" {
				if object.Older(d.Version, m.version) {
					m.t.Errorf("%v at %s behind %s", d.Op, d.Version, m.version)
				}
				m.version = d.Version
			}
		}
	})
	return nil
}

// reaches waits until the sink is at a version.
func (m *mirror) reaches(version string) {
	m.t.Helper()
	late := time.After(20 * time.Second)
	for {
		m.mu.Lock()
		now := m.version
		m.mu.Unlock()
		if now != "" && !object.Older(now, version) {
			return
		}
		select {
		case <-m.looked:
		case <-late:
			require.FailNow(m.t, "not reached", "%s, but %s", version, now)
		}
	}
}

// Two reflectors with the two halves of the ring read every object of a server, each exactly one of them, and both
// follow its version, whether the server filters or not: with each client, in each format, from lists and from streams.
func TestShare_TwoHalvesReadEveryObjectOnce(t *testing.T) {
	typed := func(t *testing.T, config *rest.Config) reflector.Source {
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		return reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podResource)
	}
	decoded := func(t *testing.T, config *rest.Config) reflector.Source {
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		return reflector.From(client.CoreV1().Pods(""))
	}
	dynamically := func(t *testing.T, config *rest.Config) reflector.Source {
		config.Wrap(reflector.Wire)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return reflector.FromDynamic(client, podResource, "")
	}
	ofMetadata := func(t *testing.T, config *rest.Config) reflector.Source {
		config.Wrap(reflector.Wire)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return reflector.FromMetadata(client, podResource, "")
	}
	for _, row := range []struct {
		name, content string
		source        func(*testing.T, *rest.Config) reflector.Source
		example       runtime.Object
	}{
		{"protobuf", runtime.ContentTypeProtobuf, typed, &corev1.Pod{}},
		{"JSON", runtime.ContentTypeJSON, typed, &corev1.Pod{}},
		{"decoded by the client", runtime.ContentTypeProtobuf, decoded, &corev1.Pod{}},
		{"dynamic", "", dynamically, &unstructured.Unstructured{}},
		{"metadata", "", ofMetadata, &metav1.PartialObjectMetadata{}},
	} {
		for _, stream := range []bool{true, false} {
			for n := range 4 {
				field, filters := []shard.Field{shard.ByUID, shard.ByNamespace}[n/2], n%2 == 1
				bookmarks := time.Duration(0)
				if filters { // then foreign events do not come
					bookmarks = 10 * time.Millisecond
				}
				t.Run(fmt.Sprintf("%s, stream %v, field %d, filtered %v", row.name, stream, field, filters), func(t *testing.T) {
					server := informertest.New(informertest.Options{ShardedListAndWatch: filters, BookmarkInterval: bookmarks})
					defer server.Close()
					require.NoError(t, server.Start())
					all := map[indexer.Key]string{}
					last := write(t, server, all, 0)

					var halves []*mirror
					var reflectors []*reflector.Reflector
					var ends []func()
					defer func() {
						for _, end := range ends {
							end()
						}
					}()
					for index := range 2 {
						set, err := shard.Nth(field, index, 2)
						require.NoError(t, err)
						config := server.ClientConfig()
						config.ContentType = row.content
						source := row.source(t, config)
						if !stream {
							source = unstreamed(source)
						}
						m := newMirror(t, set)
						r := reflector.New(source, m, reflector.Options{Type: reflect.TypeOf(row.example), Share: set, PageSize: 3})
						halves, reflectors = append(halves, m), append(reflectors, r)
						ctx, cancel := context.WithCancel(t.Context())
						ended := make(chan error)
						go func() {
							ended <- r.Run(ctx)
						}()
						ends = append(ends, func() {
							cancel()
							require.NoError(t, <-ended)
						})
					}
					for round := 1; round < 4; round++ {
						for _, m := range halves {
							m.reaches(last)
						}
						union, overlap := map[indexer.Key]string{}, 0
						for i, m := range halves {
							m.mu.Lock()
							overlap += len(m.objects)
							maps.Copy(union, m.objects)
							require.NotEmpty(t, m.objects)
							m.mu.Unlock()
							dropped, words := reflectors[i].Foreign()
							require.Equal(t, filters, words == "filters")
							require.Equal(t, filters, dropped == 0)
						}
						require.Equal(t, all, union)
						require.Len(t, all, overlap, "no object is read twice")
						last = write(t, server, all, round)
					}
				})
			}
		}
	}
}

// write makes and changes some pods and deletes others, and returns the last version.
func write(t *testing.T, server *informertest.Server, all map[indexer.Key]string, round int) (last string) {
	t.Helper()
	for n := range 20 {
		p := pod(fmt.Sprintf("p%d", n), fmt.Sprint(round))
		p.Namespace = fmt.Sprintf("team-%x", n*7919)
		key := object.Key(p)
		switch _, known := all[key]; {
		case !known:
			require.NoError(t, server.Create(t.Context(), p))
		case (n+round)%5 == 0 && n < 19:
			require.NoError(t, server.Delete(t.Context(), p))
			delete(all, key)
			continue
		default:
			require.NoError(t, server.Update(t.Context(), p))
		}
		all[key], last = p.ResourceVersion, p.ResourceVersion
	}
	return last
}
