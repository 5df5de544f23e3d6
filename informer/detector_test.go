package informer

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// finds requires that a detector finds a write into an object.
func finds(t *testing.T, d *detector, wrote string) {
	t.Helper()
	defer func() { require.Contains(t, recover(), "cache pods modified: a program has written into "+wrote+"\n") }()
	d.compare()
}

func TestADetectorNamesWhatWasWritten(t *testing.T) {
	d := &detector{name: "pods"}
	p, other := kit.Pod("a", "1"), kit.Pod("b", "1")
	d.add(p)
	d.add(other)
	d.compare()
	p.Spec.NodeName = "n1"
	finds(t, d, ".Spec.NodeName of default/a")
	other.Labels = map[string]string{}
	finds(t, d, ".Spec.NodeName of default/a, .ObjectMeta.Labels of default/b")
	p.Spec.NodeName, other.Labels = "", nil
	d.compare()
	for range mostNamed {
		d.add(p)
	}
	p.Spec.NodeName = "n1"
	finds(t, d, strings.Repeat(".Spec.NodeName of default/a, ", mostNamed)+"1 more")
}

// A Quantity writes its text into itself when somebody reads it.
func TestADetectorLeavesGettersAlone(t *testing.T) {
	d, limit := &detector{name: "pods"}, resource.MustParse("2048Mi")
	p := kit.Pod("a", "1")
	p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}}}
	d.add(p)
	_, _ = limit.String(), limit.AsDec()
	d.compare()
	limit.Add(resource.MustParse("1Mi"))
	finds(t, d, ".Spec.Volumes[0].VolumeSource.EmptyDir.SizeLimit of default/a")
}

// An object is watched as long as it lives, and lives as long as somebody else holds it.
func TestADetectorKeepsNothingAlive(t *testing.T) {
	d := &detector{name: "pods"}
	p := kit.Pod("a", "1")
	gone := weak.Make(p)
	d.add(p)
	d.compare()
	require.Len(t, d.watched, 1)
	collected(t, gone)
	d.compare()
	require.Empty(t, d.watched)
}

// embedding copies itself to another type.
type embedding struct{ *corev1.Pod }

func TestADetectorNeedsExactCopies(t *testing.T) {
	d := &detector{name: "pods"}
	for _, obj := range []any{nil, "text", (*corev1.Pod)(nil), embedding{kit.Pod("a", "1")}, &embedding{kit.Pod("a", "1")}} {
		d.add(obj)
	}
	require.Empty(t, d.added)
	var none *detector
	none.add(kit.Pod("a", "1"))
	none.start()()
}

// What was decoded for a reader or a handler is watched as well, and stored objects are.
func TestADetectorSeesPackedObjects(t *testing.T) {
	unverified(t)
	t.Setenv("TIDEMARK_VERIFY", "1")
	for name, get := range map[string]func(f *testCore) *corev1.Pod{
		"that was kept":    func(f *testCore) *corev1.Pod { return podAt(t, f.core, "a") },
		"that was decoded": func(f *testCore) *corev1.Pod { coolDown(f); return podAt(t, f.core, "a") },
		"of a handler": func(f *testCore) *corev1.Pod {
			coolDown(f)
			return f.packing.forHandler(storedAt(t, f, "a")).(*corev1.Pod)
		},
		"of a handler, beside one": func(f *testCore) *corev1.Pod { return besideIn(t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			o := packedIn(NewBudget(1 << 20))
			o.Name = "pods"
			f := newTestCore(t, o, 1)
			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
			p := get(f)
			f.detector.compare()
			p.Spec.NodeName = "n1"
			finds(t, f.detector, ".Spec.NodeName of default/a")
		})
	}
}

func storedAt(t *testing.T, f *testCore, name string) any {
	t.Helper()
	stored, ok := f.writer.Stored(named(name))
	require.True(t, ok)
	return stored
}

// besideIn reads pod a beside pod b.
func besideIn(t *testing.T, f *testCore) *corev1.Pod {
	t.Helper()
	b := podAt(t, f.core, "b")
	coolDown(f)
	return f.packing.besideForHandler(storedAt(t, f, "a"), storedAt(t, f, "b"), b).(*corev1.Pod)
}

// A detector compares once more when its informer stops.
func TestADetectorComparesAtTheEnd(t *testing.T) {
	d := &detector{name: "pods"}
	p := kit.Pod("a", "1")
	stop := d.start()
	d.add(p)
	stop()
	require.Len(t, d.watched, 1)
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
