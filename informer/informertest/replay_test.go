package informertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// recordEvents runs an informer of all pods on a client until a function has returned, and returns
// the events of its handler.
func recordEvents(t *testing.T, c *rest.Config, until func(*informer.Informer[*corev1.Pod])) (lines []string) {
	t.Helper()
	i := informer.New(reflector.From(newClient(t, c).CoreV1().Pods("")), informer.Options[*corev1.Pod]{Observe: func(informer.Event) {}})
	_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		obj := c.New
		if c.Kind == informer.Deleted {
			obj = c.Old
		}
		lines = append(lines, c.Kind.String()+" "+spell(obj))
	}), informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	until(i)
	cancel()
	require.NoError(t, wait())
	return lines
}

// record records an informer through most of the events that can happen.
func record(t *testing.T, s *Server) (text string, lines []string) {
	t.Helper()
	var file bytes.Buffer
	r := NewRecorder(&file)
	c := s.ClientConfig()
	c.ContentType, c.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	c.Wrap(r.Wrap)
	lines = recordEvents(t, c, func(i *informer.Informer[*corev1.Pod]) {
		settle := func() { require.NoError(t, s.Settle(t.Context(), i)) }
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		settle()
		require.NoError(t, s.Update(t.Context(), newPod("a", "p", "x", "y")))
		settle()
		allow := s.Forbid(Request{})
		s.CutWatches()
		time.Sleep(time.Minute)
		require.NoError(t, s.Create(t.Context(), newPod("b", "q")))
		require.NoError(t, s.Delete(t.Context(), newPod("a", "p")))
		s.Compact()
		allow()
		settle()
		require.NoError(t, s.Delete(t.Context(), newPod("b", "q")))
		settle()
	})
	require.NoError(t, r.Err())
	return file.String(), lines
}

func TestReplayTellsWhatWasRecorded(t *testing.T) {
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			inBubble(t, o, func(t *testing.T, s *Server) {
				require.NoError(t, s.StartInMemory())
				text, lines := record(t, s)
				require.NotEmpty(t, lines)
				for range 2 { // it is the same each time
					r, err := Replay(strings.NewReader(text))
					require.NoError(t, err)
					assert.Equal(t, lines, recordEvents(t, r.ClientConfig(), func(*informer.Informer[*corev1.Pod]) {
						<-r.Done()
						synctest.Wait()
					}))
				}
			})
		})
	}
}

// A recording is text to be read, edited, or written by hand.
const written = `
{"request":1,"at":"0s","url":"/api/v1/pods?limit=500","accept":"application/json"}
{"request":1,"at":"1ms","end":"no route to <host>"}
{"request":2,"at":"1s","url":"/api/v1/pods?limit=500","accept":"application/json"}
{"request":2,"at":"1s","code":503,"type":"text/plain","wait":"1"}
{"request":2,"at":"1s","body":"no healthy upstream"}
{"request":3,"at":"2s","url":"/api/v1/pods?limit=500","accept":"application/json"}
{"request":3,"at":"2s","code":200,"type":"application/json"}
{"request":3,"at":"2s","body":{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"namespace":"a","name":"p","resourceVersion":"5"}}]}}
{"request":4,"at":"2s","url":"/api/v1/pods?watch=true&resourceVersion=7","accept":"application/json"}
{"request":4,"at":"2s","code":200,"type":"application/json"}
{"request":4,"at":"3s","event":{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"a","name":"p","resourceVersion":"8"}}}}
{"request":4,"at":"4s","end":"EOF"}
{"request":5,"at":"5s","url":"/api/v1/pods?watch=true&resourceVersion=8","accept":"application/json"}
{"request":5,"at":"5s","code":200,"type":"application/json"}
{"request":5,"at":"6s","event":{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"b","name":"q","resourceVersion":"9"}}}}
{"request":5,"at":"7s","end":"unexpected EOF"}
`

func TestReplayOfARecordingByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Replay(strings.NewReader(written))
		require.NoError(t, err)
		lines := recordEvents(t, r.ClientConfig(), func(i *informer.Informer[*corev1.Pod]) {
			<-r.Done()
			synctest.Wait()
			assert.Equal(t, 1, i.Indexer().Len())
		})
		assert.Equal(t, []string{"added a/p@5", "deleted a/p@8", "added b/q@9"}, lines)
	})
}

func TestReplayOfWhatWasNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Replay(strings.NewReader(written))
		require.NoError(t, err)
		client := newClient(t, r.ClientConfig()).CoreV1()
		_, err = client.Pods("").Watch(t.Context(), streaming(""))
		require.True(t, apierrors.IsInvalid(err), err)
		_, err = client.Pods("").List(t.Context(), metav1.ListOptions{})
		require.ErrorContains(t, err, "recorded: no route to <host>")
		require.ErrorIs(t, err, errRecorded)
		_, err = client.Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: "x"})
		require.True(t, apierrors.IsNotFound(err), err)
		_, err = client.Secrets("").List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsNotFound(err), err)
		_, err = client.Pods("a").Create(t.Context(), newPod("a", "p"), metav1.CreateOptions{})
		require.True(t, apierrors.IsMethodNotSupported(err), err)

		for range 2 {
			w, err := client.Pods("").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			for range w.ResultChan() {
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = client.Pods("").Watch(ctx, metav1.ListOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded, "after the end all is silent")
	})
}

// A request that got no answer has nothing to be read: it neither holds up the answers behind it nor
// keeps a recording from its end.
func TestReplayOfARequestWithoutAnAnswer(t *testing.T) {
	const unanswered = `{"request":%d,"at":"1s","url":"/api/v1/pods?watch=true&resourceVersion=8","accept":"application/json"}`
	for name, text := range map[string]string{
		"in between": fmt.Sprintf(unanswered, 9) + written,
		"at the end": written + fmt.Sprintf(unanswered, 9),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := Replay(strings.NewReader(text))
				require.NoError(t, err)
				lines := recordEvents(t, r.ClientConfig(), func(*informer.Informer[*corev1.Pod]) {
					<-r.Done()
					synctest.Wait()
				})
				assert.Equal(t, []string{"added a/p@5", "deleted a/p@8", "added b/q@9"}, lines)
			})
		})
	}
	r, err := Replay(strings.NewReader(fmt.Sprintf(unanswered, 1)))
	require.NoError(t, err)
	<-r.Done()
}

func TestReplayOfNonsense(t *testing.T) {
	for _, text := range []string{"x", `{"request":1,"code":200}`, `{"request":1,"url":"pods"}`, `[]`} {
		_, err := Replay(strings.NewReader(text))
		require.ErrorIs(t, err, errRecording, text)
	}
	r, err := Replay(strings.NewReader(""))
	require.NoError(t, err)
	<-r.Done()
}

// Only lists and watches are recorded, and no credentials.
func TestRecorderIsDiscreet(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.StartInMemory())
		var file bytes.Buffer
		c := s.ClientConfig()
		c.BearerToken = "very secret"
		c.Wrap(NewRecorder(&file).Wrap)
		client := newClient(t, c)
		_, err := client.CoreV1().Pods("a").Create(t.Context(), newPod("a", "p"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().Pods("a").Get(t.Context(), "p", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = client.Discovery().ServerVersion()
		_ = err // does not matter
		assert.Empty(t, file.String())
		_, err = client.CoreV1().Pods("a").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, 3, strings.Count(file.String(), "\n"))
		assert.NotContains(t, file.String(), "secret")
	})
}

// failingWriter fails like a full disk.
type failingWriter struct{}

var errFull = errors.New("no space left")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestRecorderDoesNotDisturb(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.StartInMemory())
		r := NewRecorder(failingWriter{})
		c := s.ClientConfig()
		c.Wrap(r.Wrap)
		client := newClient(t, c)
		_, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, r.Err(), errFull)
		s.Close()
		_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		require.ErrorContains(t, err, "connection refused")
	})
}

var _ http.RoundTripper = (*Recording)(nil)
