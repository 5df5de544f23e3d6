package informer

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// finds requires that the detector finds a write into an object.
func finds(t *testing.T, f *testCore, wrote string) {
	t.Helper()
	defer func() { require.Contains(t, recover(), "cache pods modified: a program has written into "+wrote+"\n") }()
	f.Compare()
}

// What was decoded for a reader or a handler is watched as well, and stored objects are.
func TestADetectorSeesPackedObjects(t *testing.T) {
	unverified(t)
	t.Setenv("TIDEMARK_VERIFY", "1")
	for name, get := range map[string]func(f *testCore) *corev1.Pod{
		"that was kept":    func(f *testCore) *corev1.Pod { return podAt(t, f.Core, "a") },
		"that was decoded": func(f *testCore) *corev1.Pod { coolDown(f); return podAt(t, f.Core, "a") },
		"of a handler": func(f *testCore) *corev1.Pod {
			coolDown(f)
			return f.ForHandler(storedAt(t, f, "a")).(*corev1.Pod)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := packedIn(NewBudget(1 << 20))
			o.Name = "pods"
			f := newTestCore(t, o, 1)
			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
			p := get(f)
			f.Compare()
			p.Spec.NodeName = "n1"
			finds(t, f, ".Spec.NodeName of default/a")
		})
	}
}

func storedAt(t *testing.T, f *testCore, name string) any {
	t.Helper()
	stored, ok := f.Writer().Stored(named(name))
	require.True(t, ok)
	return stored
}

const detectorCase = "TIDEMARK_TEST_DETECTOR"

// T15: a detector ends a process that changes an object in the cache. Therefore the test runs each case in a process
// of its own.
func TestContract_T15_TheMutationDetector(t *testing.T) {
	if which := os.Getenv(detectorCase); which != "" {
		mutate(t, which)
		return
	}
	for _, c := range []struct{ which, on, want string }{
		{"listed", "true", "cache *v1.Pod modified"},
		{"watched", "1", "cache *v1.Pod modified"},
		{"nothing", "true", ""},
		{"listed", "false", ""},
	} {
		t.Run(c.which+" "+c.on, func(t *testing.T) {
			again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract_T15_TheMutationDetector$")
			again.Env = append(os.Environ(), "TIDEMARK_VERIFY=", "KUBE_CACHE_MUTATION_DETECTOR="+c.on, detectorCase+"="+c.which)
			out, err := again.CombinedOutput()
			if c.want == "" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), c.want)
		})
	}
}

// mutate changes an object in the cache, which is forbidden: the listed pod, the watched pod, or
// none.
func mutate(t *testing.T, which string) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"))
		i := create(s, 0, nil)
		startClientgo(t, i)
		s.Send(watch.Added, kit.Pod("b", "11"))
		synctest.Wait()
		name := map[string]string{"listed": "default/a", "watched": "default/b"}[which]
		if obj, ok, _ := i.GetStore().GetByKey(name); ok {
			obj.(*corev1.Pod).Labels = map[string]string{"changed": "here"}
		}
		time.Sleep(3 * time.Second)
	})
}
