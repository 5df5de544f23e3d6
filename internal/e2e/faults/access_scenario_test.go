package faults

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// readers is the name of the role and the binding that let the ordinary user read pods.
const readers = "e2e-readers"

// allow grants the ordinary user the right to read pods, and waits until it takes effect.
func (s *scenario) allow() {
	s.t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: readers},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}},
	}
	_, err := s.admin.RbacV1().ClusterRoles().Create(s.ctx, role, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		s.must(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: readers},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: readers},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: harness.User}},
	}
	_, err = s.admin.RbacV1().ClusterRoleBindings().Create(s.ctx, binding, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the user may read pods", s.tryAsUser)
}

// forbid revokes the right to read pods, and waits until this takes effect.
func (s *scenario) forbid() {
	s.t.Helper()
	s.must(s.admin.RbacV1().ClusterRoleBindings().Delete(s.ctx, readers, metav1.DeleteOptions{}))
	s.eventually("the user may not read pods", func() error {
		if err := s.tryAsUser(); !apierrors.IsForbidden(err) {
			return errorOr(err)
		}
		return nil
	})
}

// tryAsUser lists one pod as the ordinary user.
func (s *scenario) tryAsUser() error {
	client := kubernetes.NewForConfigOrDie(s.connect(s.cluster.UserConfig()))
	_, err := client.CoreV1().RESTClient().Get().Resource("pods").Param("limit", "1").MaxRetries(0).DoRaw(s.ctx)
	return err
}

func TestScenario_AccessTakenAwayAndGivenBack(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	s.allow()
	proxy := s.proxy()
	config := harness.Via(s.cluster.UserConfig(), proxy.Address())
	m := s.watchPods(config)
	m.watching()
	s.forbid()
	proxy.Cut() // the server does not check rights again while a watch is open
	err := m.failing(apierrors.IsForbidden)
	require.Contains(t, err.Error(), harness.User, "the error names the user")
	require.False(t, m.informer.Status().Watching)

	late := s.watchPods(config)
	_ = late.failing(apierrors.IsForbidden)
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Millisecond)
	err = late.informer.WaitSynced(ctx)
	cancel()
	require.ErrorIs(t, err, informer.ErrNotSynced)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, apierrors.IsForbidden(err), "WaitSynced reports the reason: %v", err)

	s.deletePods(0, 50)
	s.touchPods(50, 100, "7")
	s.allow()
	s.heal()
	late.converge()
	m.settle()
	require.True(t, m.informer.Status().Watching)
	s.budget(40)
}
