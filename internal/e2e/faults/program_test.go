package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// program writes objects of four kinds through a gateway, and reads them from its caches.
type program struct {
	s       *scenario
	gateway *harness.Gateway
	line    bool // its config has OwnWrites
	writers []anyWriter
}

// anyWriter is a writer of any kind.
type anyWriter interface {
	run(ctx context.Context, workers, writes int)
	settled()
	distrust(yes bool)
	anyOrder()
	wentBack() bool
	unmade() []string
	counted() (*tally, informer.OwnWrites)
}

// writersNamespace is the namespace of the programs' objects.
const writersNamespace = "writers"

// writes prepares the cluster for programs that write.
func (s *scenario) writes() {
	s.t.Helper()
	_, err := s.admin.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: writersNamespace}}, metav1.CreateOptions{})
	s.must(err)
	// A pod on a node can only be resized if the node exists.
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1k"), corev1.ResourceMemory: resource.MustParse("1Ti")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}
	_, err = s.admin.CoreV1().Nodes().Create(s.ctx, node, metav1.CreateOptions{})
	s.must(err)
	s.createScalable(dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig())))
}

// createScalable creates the resource of examples/crd, with a status and a scale.
func (s *scenario) createScalable(client dynamic.Interface) {
	s.t.Helper()
	text, err := os.ReadFile("../../../examples/crd/crontab.yaml")
	s.must(err)
	crd := &unstructured.Unstructured{}
	s.must(yaml.Unmarshal(text, &crd.Object))
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	s.must(err)
	version := versions[0].(map[string]any)
	replicas := map[string]any{"type": "object", "properties": map[string]any{"replicas": map[string]any{"type": "integer"}}}
	s.must(unstructured.SetNestedField(version, replicas, "schema", "openAPIV3Schema", "properties", "status"))
	s.must(unstructured.SetNestedField(version, map[string]any{"type": "integer"}, "schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas"))
	version["subresources"] = map[string]any{
		"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
	}
	s.must(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
	_, err = client.Resource(crdsResource).Create(s.ctx, crd, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the CRD is served", func() error {
		_, err := client.Resource(cronTabsResource).List(s.ctx, metav1.ListOptions{})
		return err
	})
}

// program starts a program with or without OwnWrites. The names of its objects begin with name.
func (s *scenario) program(name string, line bool) *program {
	s.t.Helper()
	gateway, err := harness.NewGateway(s.connect(s.cluster.Config()))
	s.must(err)
	s.t.Cleanup(gateway.Close)
	p := &program{s: s, gateway: gateway, line: line}
	wire := reflector.Wire
	if line {
		wire = reflector.NewOwnWrites().Wire
	}
	config := func(contentType string) *rest.Config {
		c := s.connect(gateway.Config())
		c.ContentType = contentType
		c.AcceptContentTypes = contentType + "," + runtime.ContentTypeJSON
		c.Wrap(func(next http.RoundTripper) http.RoundTripper { return clock{next} })
		c.Wrap(wire)
		c.Wrap(func(next http.RoundTripper) http.RoundTripper { return witness{next} })
		return c
	}
	typed := kubernetes.NewForConfigOrDie(config(runtime.ContentTypeProtobuf))
	inJSON := kubernetes.NewForConfigOrDie(config(runtime.ContentTypeJSON))
	custom := dynamic.NewForConfigOrDie(config(runtime.ContentTypeJSON))
	admin := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig())).Resource(cronTabsResource).Namespace(writersNamespace)

	addWriter(p, podKind(), name, typed.CoreV1().Pods(writersNamespace), s.admin.CoreV1().Pods(writersNamespace),
		reflector.FromGenerated[*corev1.Pod](typed.CoreV1().Pods(writersNamespace), podsResource),
		func(ctx context.Context) ([]*corev1.Pod, error) {
			list, err := s.admin.CoreV1().Pods(writersNamespace).List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		})
	addWriter(p, configMapKind(), name, inJSON.CoreV1().ConfigMaps(writersNamespace), s.admin.CoreV1().ConfigMaps(writersNamespace),
		reflector.FromGenerated[*corev1.ConfigMap](inJSON.CoreV1().ConfigMaps(writersNamespace), corev1.SchemeGroupVersion.WithResource("configmaps")),
		func(ctx context.Context) ([]*corev1.ConfigMap, error) {
			list, err := s.admin.CoreV1().ConfigMaps(writersNamespace).List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		})
	addWriter(p, namespaceKind(), name, typed.CoreV1().Namespaces(), s.admin.CoreV1().Namespaces(),
		reflector.FromGenerated[*corev1.Namespace](typed.CoreV1().Namespaces(), corev1.SchemeGroupVersion.WithResource("namespaces")),
		func(ctx context.Context) ([]*corev1.Namespace, error) {
			list, err := s.admin.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		})
	addWriter(p, cronTabKind(), name, customObjects{custom.Resource(cronTabsResource).Namespace(writersNamespace)}, customObjects{admin},
		reflector.FromDynamic(custom, cronTabsResource, writersNamespace),
		func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			list, err := admin.List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			return pointers(list.Items), nil
		})
	return p
}

// The workers of a writer share its objects.
const workersOfAWriter, objectsOfAWriter = 4, 6

// addWriter adds a writer of a kind to a program, and starts its informer.
func addWriter[T informer.Object, C kindClient[T]](p *program, k kind[T], name string, own, admin C, source reflector.Source, list func(context.Context) ([]T, error)) {
	w := &kindWriter[T]{mirror: newMirror[T](p.s), kind: k, own: own, admin: admin, line: p.line}
	for i := range objectsOfAWriter {
		w.names = append(w.names, fmt.Sprintf("%s-%d", name, i))
	}
	w.indexes = []indexer.Index[T]{
		{Name: "object", Append: func(values []string, obj T) []string { return append(values, obj.GetLabels()["object"]) }},
		{Name: "round", Append: func(values []string, obj T) []string { return append(values, obj.GetLabels()["round"]) }},
	}
	w.list = list
	w.informer = informer.New[T](source, w.options())
	w.start()
	w.watching()
	p.writers = append(p.writers, w)
}

// late delays everything that the program's watches send.
func (p *program) late(by time.Duration) {
	if by > 0 {
		p.gateway.Break(harness.DelayWatches(by))
	}
}

// run makes a number of writes to each kind, while other programs write the same objects.
func (p *program) run(writes int) {
	var running sync.WaitGroup
	for _, w := range p.writers {
		running.Go(func() { w.run(p.s.ctx, workersOfAWriter, writes) })
	}
	running.Wait()
}

// settled waits until the caches are complete, and compares them with the server.
func (p *program) settled() {
	p.s.t.Helper()
	for _, w := range p.writers {
		w.settled()
	}
}

// noGhosts fails the test if a cache has shown objects that no watch has confirmed.
func (p *program) noGhosts() {
	p.s.t.Helper()
	for _, w := range p.writers {
		_, own := w.counted()
		require.Zero(p.s.t, own.Ghosts)
	}
}

// distrust disables or enables the checks of reads.
func (p *program) distrust(yes bool) {
	for _, w := range p.writers {
		w.distrust(yes)
	}
}

// anyOrder allows versions in handlers to go back.
func (p *program) anyOrder() {
	for _, w := range p.writers {
		w.anyOrder()
	}
}

// noticed returns an error if an informer has not noticed that the server's history has gone back.
func (p *program) noticed() error {
	for _, w := range p.writers {
		if !w.wentBack() {
			return errStill
		}
	}
	return nil
}

// made returns the number of answered writes.
func (p *program) made() (made int64) {
	for _, w := range p.writers {
		t, _ := w.counted()
		made += t.made.Load()
	}
	return made
}

func (p *program) lost() (lost int64) {
	for _, w := range p.writers {
		t, _ := w.counted()
		lost += t.lost.Load()
	}
	return lost
}

// figures returns the totals of all kinds for the table.
func (p *program) figures() string {
	var made, conflicts, lost, wrong, unsure, excused int64
	var own informer.OwnWrites
	for _, w := range p.writers {
		t, o := w.counted()
		made, conflicts, lost = made+t.made.Load(), conflicts+t.conflicts.Load(), lost+t.lost.Load()
		wrong, unsure, excused = wrong+t.wrong.Load(), unsure+t.unsure.Load(), excused+t.excused.Load()
		own.Shown, own.Waiting, own.Doubtful, own.Ghosts = own.Shown+o.Shown, own.Waiting+o.Waiting, own.Doubtful+o.Doubtful, own.Ghosts+o.Ghosts
	}
	text := fmt.Sprintf("%d of %d reads wrong, %d conflicts", wrong, made, conflicts)
	if lost > 0 {
		text += fmt.Sprintf(", %d answers lost", lost)
	}
	if p.line {
		text += fmt.Sprintf(", %d shown, %d unclear, %d waiting, %d doubtful, %d excused, %d ghosts", own.Shown, unsure, own.Waiting, own.Doubtful, excused, own.Ghosts)
	}
	return text
}

// amountOf returns a list of one resource.
func amountOf(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}

func podKind() kind[*corev1.Pod] {
	fresh := func(name string) *corev1.Pod {
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: freshMeta(name),
			Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "main", Image: "image"}, // an apply does not own its resources
				{Name: "other", Image: "image", Resources: corev1.ResourceRequirements{Requests: amountOf(corev1.ResourceMemory, "1Mi")}},
			}},
		}
		if len(name)%2 == 0 {
			pod.Spec.NodeName = "node" // so that it is deleted gracefully
		}
		return pod
	}
	return kind[*corev1.Pod]{
		name: "Pod", namespace: writersNamespace, fresh: fresh, status: `{"status":{"message":"%d"}}`,
		sorts: slices.Concat(writesOfAll[*corev1.Pod](), writesOfNamespaced[*corev1.Pod](), writesOfStatus[*corev1.Pod](),
			writesOfPods(), writesOfPodSpecs()),
	}
}

func configMapKind() kind[*corev1.ConfigMap] {
	return kind[*corev1.ConfigMap]{
		name: "ConfigMap", namespace: writersNamespace,
		fresh: func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: freshMeta(name)}
		},
		sorts: slices.Concat(writesOfAll[*corev1.ConfigMap](), writesOfNamespaced[*corev1.ConfigMap]()),
	}
}

func namespaceKind() kind[*corev1.Namespace] {
	return kind[*corev1.Namespace]{
		name: "Namespace",
		fresh: func(name string) *corev1.Namespace {
			return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: freshMeta(name)}
		},
		status: `{"status":{"conditions":[{"type":"Written","status":"True","reason":"Round%d"}]}}`,
		sorts:  slices.Concat(writesOfAll[*corev1.Namespace](), writesOfStatus[*corev1.Namespace](), writesOfNamespaces()),
	}
}

func cronTabKind() kind[*unstructured.Unstructured] {
	fresh := func(name string) *unstructured.Unstructured {
		tab := object(cronTabsResource, "CronTab", name)
		tab.SetLabels(map[string]string{"object": name})
		tab.Object["spec"] = map[string]any{"schedule": "daily", "image": "image"}
		return tab
	}
	return kind[*unstructured.Unstructured]{
		name: "CronTab", namespace: writersNamespace, fresh: fresh, status: `{"status":{"replicas":%d}}`,
		sorts: slices.Concat(writesOfAll[*unstructured.Unstructured](), writesOfNamespaced[*unstructured.Unstructured](),
			writesOfStatus[*unstructured.Unstructured](), writesOfScale()),
	}
}

func freshMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"object": name}}
}
