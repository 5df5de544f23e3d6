package faults

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// refusals is the number of 429 answers to wait for. It is enough to see that the informer obeys each
// Retry-After.
const refusals = 4

// API priority and fairness allows the ordinary user one request at a time, which another client of the
// user holds. The server answers the informer with 429 and Retry-After until that request ends.
func TestScenario_TooManyRequests(t *testing.T) {
	t.Parallel() // it mostly waits
	// By default the server ends a request after a minute if nothing reads its answer.
	s := begin(t, harness.Options{Audit: true, Flags: []string{"--request-timeout=1h"}})
	s.createPods(somePods)
	s.allow()
	proxy := s.proxy()
	config := harness.Via(s.cluster.UserConfig(), proxy.Address())
	config.UserAgent = "tidemark-fairness"
	m := s.watchPods(config)
	m.watching()
	s.jail()
	var leave func()
	s.eventually("the server is too busy for the user", func() error {
		leave = s.occupy()
		if err := s.tryAsUser(); !apierrors.IsTooManyRequests(err) {
			leave() // the server has not limited the user yet: the priority levels take effect after a while
			return errorOr(err)
		}
		return nil
	})
	proxy.Cut()
	s.touchPods(0, 100, "7")
	s.deletePods(100, 150)
	_ = m.failing(apierrors.IsTooManyRequests)
	require.False(t, m.informer.Status().Watching)
	s.eventually("the informer is refused repeatedly", func() error {
		if m.requests.TooMany.Load() < refusals {
			return errNone
		}
		return nil
	})
	leave()
	s.heal()
	s.note = fmt.Sprintf("%d requests answered with 429", m.requests.TooMany.Load())
	m.settle()
	require.Zero(t, m.informer.Status().Relists)
	require.Zero(t, m.requests.Early.Load(), "requests before the end of a Retry-After")
	s.budget(60)

	sent, err := s.cluster.Audited(config.UserAgent)
	require.NoError(t, err)
	refused := 0
	for _, one := range sent {
		if one.Code == 429 {
			refused++
		}
	}
	require.GreaterOrEqual(t, refused, refusals, "the 429 answers in the server's audit log")
	require.EqualValues(t, m.requests.TooMany.Load(), refused)
}

const jail = "e2e-jail"

// jail makes the kube-apiserver serve one request of the ordinary user at a time, and answer others with
// 429.
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

// occupy holds the ordinary user's only request until leave is called: it sends a list request whose
// answer is larger than the buffers, and does not read the answer.
func (s *scenario) occupy() (leave func()) {
	s.t.Helper()
	config := s.cluster.UserConfig()
	security, err := rest.TLSConfigFor(config)
	s.must(err)
	security.ServerName = "127.0.0.1"
	conn, err := net.Dial("tcp", s.cluster.Address())
	s.must(err)
	leave = func() { _ = conn.Close() } // an error does not matter: the connection ends
	s.t.Cleanup(leave)
	s.must(conn.(*net.TCPConn).SetReadBuffer(4096))
	stream := tls.Client(conn, security)
	_, err = fmt.Fprintf(stream, "GET /api/v1/pods HTTP/1.1\r\nHost: e2e\r\nAccept: application/json\r\nAuthorization: Bearer %s\r\n\r\n", config.BearerToken)
	s.must(err)
	_, err = io.ReadFull(stream, make([]byte, 1))
	s.must(err)
	return leave
}
