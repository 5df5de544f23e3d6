package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
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
	told := func(word string) error { return failure(context.Background(), []string{word}) }
	for name, test := range map[string]struct {
		err  error
		want class
	}{
		"expired":                      {told("expired"), classExpired},
		"gone":                         {told("gone"), classExpired},
		"expired, wrapped":             {fmt.Errorf("while: %w", told("expired")), classExpired},
		"too large by cause":           {told("toolarge"), classTooLarge},
		"too large by cause's message": {timeout("x", metav1.StatusCause{Message: "Too large resource version"}), classTooLarge},
		"too large by text":            {timeout("Too large resource version: 5, current: 4"), classTooLarge},
		"too large by text alone":      {bare, classTooLarge},
		"too large, wrapped":           {fmt.Errorf("while: %w", bare), classTooLarge},
		"another timeout":              {timeout("slow", metav1.StatusCause{Message: "slow"}), classOther},
		"too large, but no timeout":    {apierrors.NewBadRequest("Too large resource version"), classInvalid},
		"invalid":                      {told("invalid"), classInvalid},
		"longer than a server reads":   {apierrors.NewGenericServerResponse(http.StatusRequestHeaderFieldsTooLarge, "get", schema.GroupResource{}, "", "", 0, true), classInvalid},
		"busy":                         {told("busy"), classBusy},
		"refused":                      {told("refused"), classBusy},
		"code 429 alone":               {apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "get", schema.GroupResource{}, "", "", 0, true), classBusy},
		"internal":                     {told("internal"), classOther},
		"forbidden":                    {told("forbidden"), classOther},
		"no status":                    {io.ErrUnexpectedEOF, classOther},
		"ours":                         {ErrSilent, classOther},
	} {
		require.Equal(t, test.want, classify(test.err), name)
	}
}

func TestRetryAfter(t *testing.T) {
	require.Equal(t, 7*time.Second, retryAfter(apierrors.NewTooManyRequests("busy", 7)))
	require.Zero(t, retryAfter(apierrors.NewTooManyRequests("busy", 0)))
	require.Equal(t, maxRetryAfter, retryAfter(apierrors.NewTooManyRequests("busy", math.MaxInt32)), "68 years")
	require.Zero(t, retryAfter(apierrors.NewServerTimeout(schema.GroupResource{}, "list", 7)), "that is not a 429")
	require.Zero(t, retryAfter(errors.New("other")))
}
