package reflector

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// classify returns the class of an error for the machine.
func classify(err error) class {
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return classExpired
	case isTooLarge(err):
		return classTooLarge
	case apierrors.IsTooManyRequests(err), retryAfter(err) > 0, isUnanswered(err):
		return classBusy
	case apierrors.IsServiceUnavailable(err):
		return classUnavailable
	case isInvalid(err):
		return classInvalid
	case apierrors.IsNotFound(err):
		return classMissing
	default:
		return classOther
	}
}

// ClassOf returns the class of an error of a list or watch.
func ClassOf(err error) ErrorClass {
	var status apierrors.APIStatus
	var foreign runtime.NegotiateError // client-go has no decoder for the content type, such as HTML
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), isTooLarge(err):
		return ErrorExpired
	case errors.Is(err, ErrNotServed):
		return ErrorNotServed
	case errors.As(err, &status) && status.Status().Code != 0:
		return classOfStatus(int(status.Status().Code))
	case errors.Is(err, ErrSilent), errors.Is(err, errNoBookmark), errors.Is(err, context.DeadlineExceeded), utilnet.IsTimeout(err):
		return ErrorTimeout
	case errors.Is(err, errStreamEnded), errors.Is(err, errShortWatch), isOfConnection(err):
		return ErrorConnection
	case errors.Is(err, ErrBadAnswer), errors.Is(err, wire.ErrTable), errors.Is(err, ErrUnexpected), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &foreign):
		return ErrorDecode
	default:
		return ErrorOther
	}
}

func classOfStatus(code int) ErrorClass {
	switch code {
	case http.StatusUnauthorized:
		return ErrorUnauthorized
	case http.StatusForbidden:
		return ErrorForbidden
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable:
		return ErrorNotServed
	case http.StatusTooManyRequests:
		return ErrorBusy
	case http.StatusGone:
		return ErrorExpired
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return ErrorTimeout
	}
	switch {
	case code >= http.StatusInternalServerError:
		return ErrorServer
	case code >= http.StatusBadRequest:
		return ErrorInvalid
	}
	return ErrorOther
}

// isUnanswered reports whether a request got no answer because there was no connection or it broke.
// http.Client returns a *url.Error then, but not for a connection that breaks in the body of an
// answer.
func isUnanswered(err error) bool {
	var request *url.Error
	var network *net.OpError
	return utilnet.IsConnectionRefused(err) || errors.As(err, &request) &&
		(errors.As(err, &network) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
			strings.Contains(err.Error(), "TLS handshake timeout")) // net/http's error has no exported type
}

// isOfConnection reports whether a connection failed or broke.
func isOfConnection(err error) bool {
	var network net.Error
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		errors.As(err, &network)
}

// isInvalid reports whether the server rejects the request itself, or its length. Servers also
// reject the version of another server like this.
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

// isTooLarge reports whether the server has not reached the requested version yet. Servers since
// 1.18.6 set a cause's type, servers since 1.17 a cause's message, and older servers only the text.
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

// retryAfter returns the Retry-After of a busy or failing server, or 0.
func retryAfter(err error) time.Duration {
	var delayed *wire.DelayedError
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &delayed):
		return min(delayed.After, maxRetryAfter)
	case apierrors.IsTooManyRequests(err), errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError:
		seconds, _ := apierrors.SuggestsClientDelay(err)
		return min(time.Duration(max(seconds, 0))*time.Second, maxRetryAfter)
	default:
		return 0
	}
}
