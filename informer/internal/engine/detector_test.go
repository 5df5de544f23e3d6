package engine

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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
	require.Eventually(t, func() bool { runtime.GC(); return gone.Value() == nil }, 20*time.Second, time.Millisecond)
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

// A detector compares once more when its informer stops.
func TestADetectorComparesAtTheEnd(t *testing.T) {
	d := &detector{name: "pods"}
	p := kit.Pod("a", "1")
	stop := d.start()
	d.add(p)
	stop()
	require.Len(t, d.watched, 1)
}
