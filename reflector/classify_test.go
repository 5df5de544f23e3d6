package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// B45: there are three ways to say that a version is too large.
func TestContract_B45_Classes(t *testing.T) {
	timeout := func(message string, causes ...metav1.StatusCause) *apierrors.StatusError {
		err := apierrors.NewTimeoutError(message, 1)
		err.ErrStatus.Details.Causes = causes
		return err
	}
	bare := timeout("Too large resource version: 5, current: 4")
	bare.ErrStatus.Details = nil
	broke := func(err error) error { return &url.Error{Op: "Get", URL: "https://server", Err: err} }
	recorded := func(word string) error { return failure(context.Background(), []string{word}) }
	for name, test := range map[string]struct {
		err  error
		want class
	}{
		"expired":                      {recorded("expired"), classExpired},
		"gone":                         {recorded("gone"), classExpired},
		"expired, wrapped":             {fmt.Errorf("while: %w", recorded("expired")), classExpired},
		"too large by cause":           {recorded("toolarge"), classTooLarge},
		"too large by cause's message": {timeout("x", metav1.StatusCause{Message: "Too large resource version"}), classTooLarge},
		"too large by text":            {timeout("Too large resource version: 5, current: 4"), classTooLarge},
		"too large by text alone":      {bare, classTooLarge},
		"too large, wrapped":           {fmt.Errorf("while: %w", bare), classTooLarge},
		"another timeout":              {apierrors.NewTimeoutError("slow", 0), classOther},
		"a timeout with Retry-After":   {timeout("slow", metav1.StatusCause{Message: "slow"}), classBusy},
		"too large, but no timeout":    {apierrors.NewBadRequest("Too large resource version"), classInvalid},
		"invalid":                      {recorded("invalid"), classInvalid},
		"longer than a server reads":   {apierrors.NewGenericServerResponse(http.StatusRequestHeaderFieldsTooLarge, "get", schema.GroupResource{}, "", "", 0, true), classInvalid},
		"busy":                         {recorded("busy"), classBusy},
		"refused":                      {recorded("refused"), classBusy},
		"code 429 alone":               {apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "get", schema.GroupResource{}, "", "", 0, true), classBusy},
		"unavailable":                  {apierrors.NewServiceUnavailable("down"), classUnavailable},
		"no route":                     {broke(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}), classBusy},
		"closed before the answer":     {broke(io.EOF), classBusy},
		"reset before the answer":      {broke(syscall.ECONNRESET), classBusy},
		"lost before the answer":       {broke(errors.New("http2: client connection lost")), classBusy},
		"a handshake that takes long":  {handshakeTimeout(t), classBusy},
		"reset within the answer":      {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, classOther},
		"no trust":                     {broke(errors.New("x509: certificate has expired")), classOther},
		"the client's time-out":        {broke(context.DeadlineExceeded), classOther},
		"internal":                     {recorded("internal"), classOther},
		"forbidden":                    {recorded("forbidden"), classOther},
		"no status":                    {io.ErrUnexpectedEOF, classOther},
		"ours":                         {ErrSilent, classOther},
	} {
		require.Equal(t, test.want, classify(test.err), name)
	}
}

// handshakeTimeout returns the error of a request to a server that is too busy to answer a TLS handshake.
func handshakeTimeout(t *testing.T) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it waits for nothing
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.Addr().String(), nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: time.Millisecond}}
	_, err = client.Do(request) //nolint:bodyclose // there is no answer
	require.Error(t, err)
	return err
}

func TestRetryAfter(t *testing.T) {
	require.Equal(t, 7*time.Second, retryAfter(apierrors.NewTooManyRequests("busy", 7)))
	require.Zero(t, retryAfter(apierrors.NewTooManyRequests("busy", 0)))
	require.Equal(t, maxRetryAfter, retryAfter(apierrors.NewTooManyRequests("busy", math.MaxInt32)), "68 years")
	require.Equal(t, 7*time.Second, retryAfter(apierrors.NewServerTimeout(schema.GroupResource{}, "list", 7)))
	require.Zero(t, retryAfter(apierrors.NewTooManyRequests("busy", -7)))
	require.Zero(t, retryAfter(apierrors.NewGenericServerResponse(http.StatusForbidden, "list", schema.GroupResource{}, "", "", 7, true)), "it is neither busy nor failing")
	require.Zero(t, retryAfter(errors.New("other")))
}
