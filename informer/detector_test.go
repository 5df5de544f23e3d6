package informer_test

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
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

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
		s := rig.NewScript("10", kit.Pod("a", "1"))
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
