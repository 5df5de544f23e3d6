package programs

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var controller = built("controller")

func TestController_Program(t *testing.T) {
	controller.Test(t, badInputOfController...)
}

var badInputOfController = []program.BadInput{
	{Args: "--demo --debug-address 6060", Want: `invalid value "6060" for flag -debug-address: address 6060: missing port in address; controller -h lists the flags`},
	{Args: "--demo --budget -1", Want: `invalid value "-1" for flag -budget: parse error; controller -h lists the flags`},
	{Args: "--demo --workers 0", Want: `invalid value "0" for flag -workers: must be at least 1; controller -h lists the flags`},
}

func TestController_Demo(t *testing.T) {
	t.Parallel()
	p := controller.Start(t) // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`controller: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.Prints(t, program.Stamp+`shop/web: summary created: 2 of registry\.example/web:v1$`)
	p.Prints(t, program.Stamp+`shop/web: summary updated: 4 of registry\.example/web:v1$`)
	p.Prints(t, program.Stamp+`shop/cart: summary deleted$`)
	p.Interrupt()
	p.Exits(t, 0)
	assert.Regexp(t, program.Stamp+`synced: deployments \d, summaries 0\n(.*\n)*.* stopped\n$`, p.Stdout.String())
}

// The debug page is served while the program runs.
func TestController_DebugAddress(t *testing.T) {
	t.Parallel()
	p := controller.Start(t, "--demo", "--debug-address", ":0")
	p.Notes(t, `http://127\.0\.0\.1:\d+/debug/informers shows the informers$`)
	url := regexp.MustCompile(`http://\S+/debug/informers`).FindString(p.Stderr.String())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url + "?format=json")
	require.NoError(t, err)
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Contains(t, string(page), `"name":"deployments.apps with example.com/summary"`)
	p.Interrupt()
	p.Exits(t, 0)
}

func TestController_TheTimeIsUp(t *testing.T) {
	t.Parallel()
	p := controller.Start(t, "--demo", "--for", "2s")
	p.Exits(t, 0)
	assert.Regexp(t, ` stopped\n$`, p.Stdout.String())
}

// summaryOf returns the summary of a Deployment in namespace shop from the server.
func summaryOf(t *testing.T, s *informertest.Server, name string) *corev1.ConfigMap {
	t.Helper()
	var summary corev1.ConfigMap
	require.NoError(t, s.Get(t.Context(), "shop", name, &summary))
	return &summary
}

func TestController_DeploymentIsFollowed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	p := controller.Start(t, "--kubeconfig", program.Kubeconfig(t, s), "--workers", "3")
	p.Prints(t, "synced: deployments 0, summaries 0$")
	web := newDeployment("web", 2)
	require.NoError(t, s.Create(ctx, web))
	p.Prints(t, "^.* shop/web: summary created: 2 of registry.example/web:v1$")
	summary := summaryOf(t, s, "web")
	assert.True(t, metav1.IsControlledBy(summary, web))
	assert.Equal(t, map[string]string{"replicas": "2", "images": "registry.example/web:v1"}, summary.Data)

	replicas := int32(5)
	web.Spec.Replicas = &replicas
	require.NoError(t, s.Update(ctx, web))
	p.Prints(t, "shop/web: summary updated: 5 of ")

	summary = summaryOf(t, s, "web")
	summary.Data["images"] = "none of your business"
	summary.OwnerReferences = nil
	require.NoError(t, s.Update(ctx, summary))
	p.Prints(t, "(?s)shop/web: summary updated: .*shop/web: summary updated: 5 of registry.example/web:v1$")
	assert.True(t, metav1.IsControlledBy(summaryOf(t, s, "web"), web))

	web.Labels = nil
	require.NoError(t, s.Update(ctx, web))
	p.Prints(t, "shop/web: summary deleted$")
	assert.True(t, apierrors.IsNotFound(s.Get(ctx, "shop", "web", &corev1.ConfigMap{})))
	p.Interrupt()
	p.Exits(t, 0)
}

// After a restart, the controller makes up for changes that it has missed, and writes only where necessary.
func TestController_Restart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	path := program.Kubeconfig(t, s)
	for _, name := range []string{"right", "gone", "changed"} {
		require.NoError(t, s.Create(ctx, newDeployment(name, 1)))
	}
	p := controller.Start(t, "--kubeconfig", path)
	p.Prints(t, "shop/right: summary created")
	p.Prints(t, "shop/gone: summary created")
	p.Prints(t, "shop/changed: summary created")
	p.Interrupt()
	p.Exits(t, 0)

	require.NoError(t, s.Delete(ctx, newDeployment("gone", 1)))
	require.NoError(t, s.Update(ctx, newDeployment("changed", 2)))
	right := summaryOf(t, s, "right")
	p = controller.Start(t, "--kubeconfig", path, "--workers", "1", "--budget", "1")
	p.Prints(t, "synced: deployments 2, summaries 3$")
	p.Prints(t, "shop/gone: summary deleted")
	p.Prints(t, "shop/changed: summary updated: 2 of")
	require.NoError(t, s.Create(ctx, newDeployment("last", 1)))
	p.Prints(t, "shop/last: summary created") // the only worker has then processed all names
	p.Interrupt()
	p.Exits(t, 0)
	assert.Equal(t, right, summaryOf(t, s, "right"))
	assert.NotContains(t, p.Stdout.String(), "shop/right")
	// The store may be behind the last write. The server then rejects the next write.
	assert.Regexp(t, `(?m)\A(`+program.Stamp+`controller: \S+: attempt \d+ failed, retrying: Operation cannot be fulfilled on configmaps .*\n)*\z`, p.Stderr.String())
}

// The controller does not touch another owner's ConfigMap. When that ConfigMap is deleted, the controller
// creates the summary.
func TestController_SomeoneElsesConfigMap(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"mine": "1"}}
	require.NoError(t, s.Create(ctx, theirs))
	require.NoError(t, s.Create(ctx, newDeployment("web", 2)))
	p := controller.Start(t, "--kubeconfig", program.Kubeconfig(t, s))
	p.Notes(t, program.Stamp+`controller: shop/web: attempt 2 failed, retrying: a ConfigMap of this name has another owner$`)
	assert.Equal(t, theirs.Data, summaryOf(t, s, "web").Data)
	require.NoError(t, s.Delete(ctx, theirs))
	p.Prints(t, "shop/web: summary created")
}

// A summary without its label is not in the store, but the controller still finds it.
func TestController_SummaryWithoutItsLabel(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Create(ctx, newDeployment("web", 2)))
	p := controller.Start(t, "--kubeconfig", program.Kubeconfig(t, s))
	p.Prints(t, "shop/web: summary created")
	summary := summaryOf(t, s, "web")
	summary.Labels = nil
	require.NoError(t, s.Update(ctx, summary))
	p.Prints(t, "shop/web: summary updated: 2 of")
	assert.Equal(t, "tidemark-example-controller", summaryOf(t, s, "web").Labels["app.kubernetes.io/managed-by"])
}

// faulty is a proxy of an API server that answers some writes with errors.
type faulty struct {
	server *informertest.Server
	mu     sync.Mutex // guards failing
	// failing has the errors for the next writes of each method.
	failing map[string][]*apierrors.StatusError
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	var err *apierrors.StatusError
	if due := f.failing[r.Method]; len(due) > 0 {
		err, f.failing[r.Method] = due[0], due[1:]
	}
	f.mu.Unlock()
	if err == nil {
		f.server.ServeHTTP(w, r)
		return
	}
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

// Writes that the server rejects are retried until they succeed.
func TestController_Retries(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	maps := corev1.Resource("configmaps")
	s := informertest.New(informertest.Options{})
	t.Cleanup(s.Close)
	f := &faulty{server: s, failing: map[string][]*apierrors.StatusError{
		http.MethodPost:   {apierrors.NewInternalError(context.DeadlineExceeded), apierrors.NewForbidden(maps, "web", nil)},
		http.MethodPut:    {apierrors.NewConflict(maps, "web", nil), apierrors.NewConflict(maps, "web", nil), apierrors.NewConflict(maps, "web", nil)},
		http.MethodDelete: {apierrors.NewConflict(maps, "web", nil)},
	}}
	front := httptest.NewServer(f)
	t.Cleanup(front.Close)
	web := newDeployment("web", 2)
	require.NoError(t, s.Create(ctx, web))

	p := controller.Start(t, "--kubeconfig", program.WriteKubeconfig(t, front.URL))
	p.Notes(t, program.Stamp+"controller: shop/web: attempt 1 failed, retrying: Internal error occurred: context deadline exceeded$")
	p.Notes(t, program.Stamp+"controller: shop/web: attempt 2 failed, retrying: configmaps \"web\" is forbidden: .*$")
	p.Prints(t, "shop/web: summary created: 2 of")
	require.NoError(t, s.Update(ctx, newDeployment("web", 3)))
	p.Notes(t, "shop/web: attempt 1 failed, retrying: Operation cannot be fulfilled on configmaps \"web\"")
	p.Notes(t, "shop/web: attempt 3 failed, retrying: Operation cannot be fulfilled on configmaps \"web\"")
	p.Prints(t, "shop/web: summary updated: 3 of")
	require.NoError(t, s.Delete(ctx, web))
	p.Prints(t, "shop/web: summary deleted")
	p.Interrupt()
	p.Exits(t, 0)
}
