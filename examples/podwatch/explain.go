package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// target is the server, and the scope of the requests.
type target struct {
	server    string // its URL
	origin    string // the source of the URL
	namespace string // empty for all
	fields    string // the selector; empty for all
}

// problem is an error in plain words.
type problem struct {
	what   string
	remedy string // what the user can do
	final  bool   // retrying will not help
}

// explain describes the error of a failed request.
func (t target) explain(f reflector.Failed) problem {
	if p, ok := t.refused(f); ok {
		return p
	}
	if p, ok := t.unreachable(f.Err); ok {
		return p
	}
	return problem{
		what:   fmt.Sprintf("cannot %s pods at %s: %s", verb(f), t.server, cause(f.Err)),
		remedy: "check that this is a Kubernetes API server in good health, and the server in " + t.origin,
	}
}

// refused explains rejections by the server.
func (t target) refused(f reflector.Failed) (problem, bool) {
	switch err := f.Err; {
	case apierrors.IsForbidden(err):
		where, remedy := "in all namespaces", "ask for a ClusterRole with the verbs list and watch on pods, or choose a namespace with --namespace"
		if t.namespace != "" {
			where = "in namespace " + t.namespace
			remedy = "ask for a Role in this namespace with the verbs list and watch on pods"
		}
		return problem{
			what:   fmt.Sprintf("no permission to %s pods %s (%s)", verb(f), where, cause(err)),
			remedy: remedy,
			final:  true,
		}, true
	case apierrors.IsUnauthorized(err):
		return problem{
			what:   fmt.Sprintf("%s does not accept the credentials (%s)", t.server, cause(err)),
			remedy: "log in again, or check the user in " + t.origin,
			final:  true,
		}, true
	case apierrors.IsNotFound(err):
		return problem{
			what:   fmt.Sprintf("%s does not serve pods (%s)", t.server, cause(err)),
			remedy: "this is not a Kubernetes API server; check the server in " + t.origin,
			final:  true,
		}, true
	case apierrors.IsBadRequest(err) && t.fields != "":
		return problem{
			what:   fmt.Sprintf("%s does not accept the field selector %s (%s)", t.server, t.fields, cause(err)),
			remedy: "check --field-selector; pods are selected by metadata.name, spec.nodeName, status.phase and some more",
			final:  true,
		}, true
	}
	return problem{}, false
}

// unreachable explains network errors.
func (t target) unreachable(err error) (problem, bool) {
	if p, ok := t.insecure(err); ok {
		return p, true
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	timeout, mayBeTimeout := errors.AsType[net.Error](err)
	switch {
	case utilnet.IsConnectionRefused(err):
		return problem{
			what:   fmt.Sprintf("nothing listens at %s (connection refused)", t.address(err)),
			remedy: "check that the API server runs, and the server in " + t.origin,
		}, true
	case isDNS && dns.IsNotFound:
		return problem{
			what:   fmt.Sprintf("there is no host %s", dns.Name),
			remedy: "check the server in " + t.origin,
			final:  true,
		}, true
	case errors.Is(err, reflector.ErrSilent), mayBeTimeout && timeout.Timeout():
		return t.silent(cause(err)), true
	case strings.Contains(err.Error(), "getting credentials: "): // client-go's text for the exec command of a kubeconfig
		return problem{
			what:   cause(err),
			remedy: "check the command that the user runs in " + t.origin,
			final:  true,
		}, true
	}
	return problem{}, false
}

// silent explains a server that does not answer.
func (t target) silent(why string) problem {
	return problem{
		what:   fmt.Sprintf("%s does not answer (%s)", t.server, why),
		remedy: "check the network (VPN, proxy, firewall), and the server in " + t.origin,
	}
}

// insecure explains errors of TLS.
func (t target) insecure(err error) (problem, bool) {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	alert, isOp := errors.AsType[*net.OpError](err)
	switch {
	case untrusted:
		return problem{
			what:   fmt.Sprintf("the certificate of %s cannot be trusted (%s)", t.server, cause(err)),
			remedy: "check the server and its certificate-authority in " + t.origin,
			final:  true,
		}, true
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return problem{
			what:   t.server + " does not speak TLS",
			remedy: "check the server in " + t.origin,
			final:  true,
		}, true
	case isOp && alert.Op == "remote error": // crypto/tls's text
		return problem{
			what:   fmt.Sprintf("%s does not accept the client certificate (%s)", t.server, cause(err)),
			remedy: "check the user in " + t.origin,
			final:  true,
		}, true
	}
	return problem{}, false
}

// address returns the address that refused a connection. It may be a proxy's.
func (t target) address(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return op.Addr.String()
	}
	return t.server
}

// verb returns the verb of the request in a Role.
func verb(f reflector.Failed) string {
	if f.Operation == reflector.OpList {
		return "list"
	}
	return "watch"
}

// cause returns the server's message, or the error of the request without the URL. It cuts long
// texts.
func cause(err error) string {
	const most = 300
	var text string
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		text = status.ErrStatus.Message
		for _, c := range causes(status) {
			if c.Type == metav1.CauseTypeUnexpectedServerResponse {
				text += ": " + c.Message // a body that is not a Status
			}
		}
	} else if request, ok := errors.AsType[*url.Error](err); ok {
		text = request.Err.Error()
	} else if inner := errors.Unwrap(err); inner != nil {
		text = inner.Error() // without the reflector's prefix, the operation
	} else {
		text = err.Error()
	}
	text = strings.TrimSuffix(oneLine(text), ".")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

func causes(err *apierrors.StatusError) []metav1.StatusCause {
	if err.ErrStatus.Details == nil {
		return nil
	}
	return err.ErrStatus.Details.Causes
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
