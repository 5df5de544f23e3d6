package reflector

import (
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// classify tells what the machine has to know of an error.
func classify(err error) class {
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return classExpired
	case isTooLarge(err):
		return classTooLarge
	case apierrors.IsTooManyRequests(err), utilnet.IsConnectionRefused(err):
		return classBusy
	case isInvalid(err):
		return classInvalid
	default:
		return classOther
	}
}

// isInvalid says that a server refuses what was asked for, as it is or for its
// length. A version that is not one of its own is refused so.
func isInvalid(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return false
}

// isTooLarge says that a server is not at the version asked for yet. Servers
// say so by a cause's type since 1.18.6, by a cause's message since 1.17, and
// before that in the text alone.
func isTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsTimeout(err) || !errors.As(err, &status) {
		return false
	}
	const text = "Too large resource version"
	if d := status.Status().Details; d != nil {
		for _, cause := range d.Causes {
			if cause.Message == text {
				return true
			}
		}
	}
	return strings.Contains(status.Status().Message, text)
}

// retryAfter is how long a server that is too busy wants to be left alone.
func retryAfter(err error) time.Duration {
	if !apierrors.IsTooManyRequests(err) {
		return 0
	}
	var delayed *delayedError
	if errors.As(err, &delayed) {
		return min(delayed.delay, maxRetryAfter)
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// delayedError is the error of a server that is too busy, whose Retry-After has not
// reached the client, see [Wire].
type delayedError struct {
	error
	delay time.Duration
}

func (e *delayedError) Unwrap() error { return e.error }
