package faults

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// The controller of the examples keeps a summary of each Deployment while
// Deployments come, go and are scaled, and while servers and connections fail.
func TestScenario_ControllerKeepsUp(t *testing.T) {
	s := begin(t, harness.Options{})
	s.must(harness.CreateNamespaces(s.ctx, s.admin, 1))
	proxy := s.proxy()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s.must(s.cluster.WriteKubeconfig(kubeconfig, proxy.Address()))
	s.runExample("controller", "--kubeconfig", kubeconfig)

	n := size(40, 400)
	s.deployments(0, n, func(ctx context.Context, i int) error { return s.deploy(ctx, i, 1) })
	proxy.Cut()
	s.deployments(0, n/2, func(ctx context.Context, i int) error { return s.scale(ctx, i, 3) })
	s.must(s.cluster.RestartAPIServer(s.ctx))
	s.deployments(0, n/4, s.undeploy)
	proxy.Cut()
	s.deployments(n, n+n/4, func(ctx context.Context, i int) error { return s.deploy(ctx, i, 2) })
	s.must(s.cluster.Etcd.Freeze())
	s.sleep(3 * time.Second)
	s.must(s.cluster.Etcd.Thaw())
	s.deployments(n/2, n, func(ctx context.Context, i int) error { return s.scale(ctx, i, 5) })
	s.heal()
	s.eventually("each Deployment has its summary, and nothing else has", s.summariesDiffer)
	s.note = fmt.Sprintf("%d deployments", n)
	s.row(time.Since(s.healed))
}

// runExample builds an example and runs it until the end of the test.
func (s *scenario) runExample(name string, args ...string) {
	s.t.Helper()
	program := filepath.Join(s.t.TempDir(), name)
	build := exec.Command("go", "build", "-o", program, "./examples/"+name)
	build.Dir = "../../.."
	text, err := build.CombinedOutput()
	require.NoError(s.t, err, "%s", text)
	p := harness.NewProcess(program, args, s.t.TempDir())
	s.must(p.Start(s.ctx))
	s.t.Cleanup(func() {
		p.Terminate()
		if s.t.Failed() {
			s.t.Log(p.LogTail())
		}
	})
}

func (s *scenario) deployments(first, end int, do func(ctx context.Context, i int) error) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, 8, end-first, func(ctx context.Context, i int) error { return do(ctx, first+i) }))
}

func deploymentName(i int) string { return fmt.Sprint("web-", i) }

// deploy creates the i-th Deployment.
func (s *scenario) deploy(ctx context.Context, i int, replicas int32) error {
	labels := map[string]string{"app": deploymentName(i), "example.com/summary": "wanted"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: deploymentName(i), Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": deploymentName(i)}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/web:1"}}},
			},
		},
	}
	_, err := s.admin.AppsV1().Deployments(harness.Namespace(0)).Create(ctx, d, metav1.CreateOptions{})
	return err
}

func (s *scenario) scale(ctx context.Context, i int, replicas int) error {
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	_, err := s.admin.AppsV1().Deployments(harness.Namespace(0)).
		Patch(ctx, deploymentName(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *scenario) undeploy(ctx context.Context, i int) error {
	return s.admin.AppsV1().Deployments(harness.Namespace(0)).Delete(ctx, deploymentName(i), *metav1.NewDeleteOptions(0))
}

// summariesDiffer tells where a summary is missing, wrong or left over.
func (s *scenario) summariesDiffer() error {
	deployments, err := s.admin.AppsV1().Deployments("").List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	summaries, err := s.admin.CoreV1().ConfigMaps(harness.Namespace(0)).List(s.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by"})
	if err != nil {
		return err
	}
	left := map[string]corev1.ConfigMap{}
	for _, one := range summaries.Items {
		left[one.Name] = one
	}
	for _, d := range deployments.Items {
		summary, ok := left[d.Name]
		if !ok || summary.Data["replicas"] != fmt.Sprint(*d.Spec.Replicas) {
			return fmt.Errorf("%s has %d replicas and the summary %v", d.Name, *d.Spec.Replicas, summary.Data)
		}
		delete(left, d.Name)
	}
	if len(left) > 0 {
		return fmt.Errorf("%d summaries are left over", len(left))
	}
	return nil
}
