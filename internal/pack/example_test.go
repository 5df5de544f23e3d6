package pack_test

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// stored is the stored form of an object: it is packed, and shows its metadata.
type stored pack.Object

func (s *stored) GetObjectMeta() metav1.Object {
	m, err := (*pack.Object)(s).Meta()
	if err != nil {
		return nil
	}
	return m.(metav1.Object)
}

// Objects are packed when they arrive, and decoded when they are read. In an informer, the codec of its store
// does this.
func Example() {
	decode := func(data []byte, _ pack.Form) (any, error) {
		p := new(corev1.Pod)
		err := p.Unmarshal(data)
		return p, err
	}
	kind := pack.NewKind(pack.Options{
		Type: reflect.TypeFor[*corev1.Pod](), Decode: decode,
		Meta:   decode, // a real one decodes only the metadata
		Weigh:  func(any) int64 { return 20_000 },
		Budget: pack.NewBudget(1 << 20),
	})

	var store []*stored
	for i := range 3 {
		pod := kit.RunningPod("web", i)
		data, err := pod.Marshal()
		if err != nil {
			panic(err)
		}
		o, err := kind.Pack(pod.Namespace, pod.Name, data, pack.Event)
		if err != nil {
			o = kind.Pin(pod)
		} else {
			o.Keep(pod, len(data), pack.Main)
		}
		store = append(store, (*stored)(o))
	}

	for _, s := range store {
		v, err := (*pack.Object)(s).Value(kind.RingFor(len(store)))
		if err != nil {
			panic(err)
		}
		fmt.Println(s.GetObjectMeta().GetResourceVersion(), v.(*corev1.Pod).Name)
	}
	// Output:
	// 100000 web-web-7d4b9c6f5d-00000
	// 100001 web-web-7d4b9c6f5d-00001
	// 100002 web-web-7d4b9c6f5d-00002
}
