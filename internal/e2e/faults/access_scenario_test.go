package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// readers is the name of the role and of the binding that let the ordinary
// user read pods.
const readers = "e2e-readers"

// allow lets the ordinary user read pods, and waits until it may.
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

// forbid takes that away, and waits until it is.
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

// tryAsUser lists a pod as the ordinary user, once.
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
	proxy.Cut() // a watch that was allowed once is not asked about again
	err := m.failing(apierrors.IsForbidden)
	require.Contains(t, err.Error(), harness.User, "the error tells who")
	require.False(t, m.informer.Status().Watching)

	late := s.watchPods(config)
	ctx, cancel := context.WithTimeout(s.ctx, 2*time.Second)
	err = late.informer.WaitSynced(ctx)
	cancel()
	require.ErrorIs(t, err, informer.ErrNotSynced)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, apierrors.IsForbidden(err), "WaitSynced tells why: %v", err)

	s.deletePods(0, 50)
	s.touchPods(50, 100, "7")
	s.allow()
	s.heal()
	late.converge()
	m.settle()
	require.True(t, m.informer.Status().Watching)
	s.budget(40)
}

func TestScenario_TooManyRequests(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	s.allow()
	proxy := s.proxy()
	m := s.watchPods(harness.Via(s.cluster.UserConfig(), proxy.Address()))
	m.watching()
	s.jail()
	disperse := s.crowd()
	s.eventually("the informer is refused, again and again", func() error {
		proxy.Cut()
		s.sleep(500 * time.Millisecond)
		if m.requests.TooMany.Load() < 5 {
			return errNone
		}
		return nil
	})
	s.touchPods(0, 100, "7")
	s.deletePods(100, 150)
	disperse()
	s.heal()
	s.note = fmt.Sprintf("%d of the requests answered with 429", m.requests.TooMany.Load())
	m.settle()
	require.Zero(t, m.informer.Status().Relists)
	s.budget(60) // client-go's transport tries each of them up to 11 times
}

const jail = "e2e-jail"

// jail makes the kube-apiserver serve the ordinary user one request at a time,
// and answer others with 429 meanwhile.
func (s *scenario) jail() {
	s.t.Helper()
	none := int32(0)
	level := &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: jail},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: &none, LendablePercent: &none, BorrowingLimitPercent: &none,
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}
	_, err := s.admin.FlowcontrolV1().PriorityLevelConfigurations().Create(s.ctx, level, metav1.CreateOptions{})
	s.must(err)
	schema := &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: jail},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: jail},
			MatchingPrecedence:         10,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: harness.User}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
				}},
			}},
		},
	}
	_, err = s.admin.FlowcontrolV1().FlowSchemas().Create(s.ctx, schema, metav1.CreateOptions{})
	s.must(err)
}

// crowd sends requests as the ordinary user, more than are served, until the
// function that it returns is called.
func (s *scenario) crowd() (disperse func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	client := kubernetes.NewForConfigOrDie(s.connect(s.cluster.UserConfig())).CoreV1().RESTClient()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = client.Get().Resource("pods").Param("limit", "500").MaxRetries(0).DoRaw(ctx) // most are refused
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	disperse = func() { cancel(); wg.Wait() }
	s.t.Cleanup(disperse)
	return disperse
}
