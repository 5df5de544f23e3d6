package sim_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// The operations that only worlds of own writes have.
const (
	ownWriting   operation = "own"   // the program writes
	otherWriting operation = "other" // another program writes
	goOn         operation = "go on" // a held write continues
	holdWatches  operation = "hold"  // the watches of a source are held from now on
	letEvents    operation = "let"   // n events pass held watches
	flow         operation = "flow"  // held watches and lists continue
	breakWatches operation = "break" // the watches break, and lose held events
	holdLists    operation = "slow"  // lists are held from now on
	askFresh     operation = "fresh" // the program waits for the newest state
	audits       operation = "audit" // the store is compared with the server
	setBack      operation = "back"  // the server is set back by n writes
)

// ownMenu has the operations of worlds of own writes.
var ownMenu = []menuItem{
	{ownWriting, 34, 1},
	{otherWriting, 14, 1},
	{goOn, 8, 1},
	{holdWatches, 7, 1},
	{letEvents, 7, 3},
	{flow, 5, 1},
	{breakWatches, 3, 1},
	{holdLists, 2, 1},
	{compact, 3, 1},
	{sendBookmark, 5, 1},
	{pass, 2, 80},
	{writeByHand, 2, 1},
	{askFresh, 3, 1},
	{audits, 2, 1},
	{settle, 3, 1},
	{setBack, 1, 6},
}

// ownKind is a kind of objects, and the clients that read them.
type ownKind struct {
	name   string
	kind   informertest.Kind
	object reflect.Type
	source func(c *rest.Config, namespace string) reflector.Source
	handle func(s informer.Shared, o informer.HandlerOptions, f func(ownEvent)) informer.Registration
	keys   func(s informer.Shared, f func(key)) informer.Registration
}

var ownKinds = []ownKind{
	{ // DELETE is answered with the object
		"pods", informertest.Kind{GVR: pods, GVK: corev1.SchemeGroupVersion.WithKind("Pod")}, reflect.TypeFor[*corev1.Pod](),
		func(c *rest.Config, namespace string) reflector.Source {
			return reflector.FromGenerated[*corev1.Pod](kubernetes.NewForConfigOrDie(c).CoreV1().Pods(namespace), pods)
		}, handleOwn[*corev1.Pod], handleOwnKeys[*corev1.Pod],
	},
	{ // DELETE is answered with a Status
		"configmaps", informertest.Kind{GVR: configMaps, GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap")}, reflect.TypeFor[*corev1.ConfigMap](),
		func(c *rest.Config, namespace string) reflector.Source {
			return reflector.FromGenerated[*corev1.ConfigMap](kubernetes.NewForConfigOrDie(c).CoreV1().ConfigMaps(namespace), configMaps)
		}, handleOwn[*corev1.ConfigMap], handleOwnKeys[*corev1.ConfigMap],
	},
	{
		"widgets", informertest.Kind{GVR: widgets, GVK: widgets.GroupVersion().WithKind("Widget"), Namespaced: true}, reflect.TypeFor[*unstructured.Unstructured](),
		func(c *rest.Config, namespace string) reflector.Source {
			return reflector.FromDynamic(dynamic.NewForConfigOrDie(c), widgets, namespace)
		}, handleOwn[*unstructured.Unstructured], handleOwnKeys[*unstructured.Unstructured],
	},
	{
		"metadata of pods", informertest.Kind{GVR: pods, GVK: corev1.SchemeGroupVersion.WithKind("Pod")}, reflect.TypeFor[*metav1.PartialObjectMetadata](),
		func(c *rest.Config, namespace string) reflector.Source {
			return reflector.FromMetadata(metadata.NewForConfigOrDie(c), pods, namespace)
		}, handleOwn[*metav1.PartialObjectMetadata], handleOwnKeys[*metav1.PartialObjectMetadata],
	},
}

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	widgets    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// The sources of worlds of own writes, by name.
var ownPlaces = map[string][]ownPlace{
	"all":        {{}},
	"a selector": {{"", zone(0)}},
	"zones":      {{"", zone(0)}, {"", zone(1)}},
	"namespaces": {{"a", ""}, {"b", ""}},
}

func zone(n int) string { return fmt.Sprint("zone=z", n) }

// ownTransforms are the transforms of worlds of own writes, by name.
var ownTransforms = map[string]func(metav1.Object){
	"":         nil,
	"identity": func(metav1.Object) {},
	"strip":    func(o metav1.Object) { o.SetFinalizers(nil) },
}

// ownSetup is the part of a world of own writes that does not change.
type ownSetup struct {
	unlinked  bool // the program's writes do not pass through the OwnWrites
	kind      int
	sources   string
	transform string
	drop      bool // managedFields
	packed    packed
	scribbles bool // the program writes into the objects that it gets
	noStream  bool
	replicas  int // how many informers share the ring; 0 means that there are no shares
	field     shard.Field
	timeout   bool // the informer's client has a timeout
	texts     bool // some lists and watches of the informer are answered with a text
}

func (s ownSetup) String() string {
	words := []string{ownKinds[s.kind].name, "sources: " + s.sources}
	say := func(is bool, what string) {
		if is {
			words = append(words, what)
		}
	}
	say(s.transform != "", "the transform: "+s.transform)
	say(s.drop, "no managedFields")
	say(s.packed != decoded, s.packed.String())
	say(s.scribbles, "a program that writes into what it gets")
	say(s.noStream, "a server that does not stream")
	say(s.unlinked, "without own writes")
	say(s.timeout, "a client with a time-out")
	say(s.texts, "a proxy that answers with texts")
	say(s.replicas > 0, fmt.Sprintf("a share of %d, %v", s.replicas, shard.Whole(s.field)))
	return strings.Join(words, ", ")
}

// ownPlan is a world of own writes before it is played.
type ownPlan struct {
	seed  uint64
	setup ownSetup
	steps []step
}

func newOwnPlan(seed uint64) ownPlan {
	r := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // a test
	p := ownPlan{seed: seed, setup: ownSetup{
		kind:      r.IntN(len(ownKinds)),
		sources:   []string{"all", "all", "a selector", "zones", "namespaces"}[r.IntN(5)],
		transform: []string{"", "", "identity", "strip", "strip"}[r.IntN(5)],
		drop:      r.IntN(4) == 0,
		noStream:  r.IntN(2) == 0,
		unlinked:  r.IntN(12) == 0,
	}}
	p.setup.packed, p.setup.scribbles = drawPacked(seed)
	total := 0
	for _, m := range ownMenu {
		total += m.weight
	}
	for n := 20 + r.IntN(30); len(p.steps) < n; {
		k := r.IntN(total)
		for _, m := range ownMenu {
			if k -= m.weight; k < 0 {
				p.steps = append(p.steps, step{op: m.op, n: 1 + r.IntN(m.maxN), seed: r.Uint64()})
				break
			}
		}
	}
	p.drawShares()
	n := rand.New(rand.NewPCG(seed, 10)) //nolint:gosec // a test
	p.setup.timeout, p.setup.texts = n.IntN(4) == 0, n.IntN(4) == 0
	return p
}
