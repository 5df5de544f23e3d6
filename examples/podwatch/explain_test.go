package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestExplanations(t *testing.T) {
	all := target{server: "https://s", origin: "the file"}
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	get := func(err error) error { return &url.Error{Op: "Get", URL: "https://s/api/v1/pods", Err: err} }
	for _, row := range []struct {
		name         string
		target       target
		operation    reflector.Operation
		err          error
		what, remedy string
		final        bool
	}{
		{"no permission to list", target{namespace: "a"}, reflector.OpList, forbidden,
			"no permission to list pods in namespace a (pods is forbidden: no role)", "ask for a Role in this namespace", true},
		{"no permission to stream", all, reflector.OpStream, forbidden,
			"no permission to watch pods in all namespaces", "ask for a ClusterRole", true},
		{"fields", target{server: "https://s", fields: "a=b"}, reflector.OpStream, apierrors.NewBadRequest("field label not supported: a"),
			"https://s does not accept the field selector a=b (field label not supported: a)", "check --field-selector", true},
		{"a bad request for another reason", all, reflector.OpStream, apierrors.NewBadRequest("no"),
			"cannot watch pods at https://s: no", "in good health", false},
		{"no such host", all, reflector.OpList, get(&net.DNSError{Err: "no such host", Name: "s", IsNotFound: true}),
			"there is no host s", "check the server in the file", true},
		{"names cannot be looked up for now", all, reflector.OpList, get(&net.DNSError{Err: "server misbehaving", Name: "s", IsTemporary: true}),
			"cannot list pods at https://s: lookup s: server misbehaving", "check", false},
		{"no route", all, reflector.OpList, get(&net.OpError{Op: "dial", Err: context.DeadlineExceeded}),
			"https://s does not answer (dial: context deadline exceeded)", "VPN", false},
		{"silence", all, reflector.OpWatch, reflector.ErrSilent,
			"https://s does not answer (the server fell silent)", "VPN", false},
		{"client certificate", all, reflector.OpList, get(&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}),
			"https://s does not accept the client certificate (remote error: tls: bad certificate)", "check the user in the file", true},
		{"credential plugin", all, reflector.OpList, get(errors.New("getting credentials: exec: executable x not found")),
			"getting credentials: exec: executable x not found", "check the command that the user runs in the file", true},
		{"anything else", all, reflector.OpWatch, errors.New("of\nseveral\tlines"),
			"cannot watch pods at https://s: of several lines", "in good health", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := row.target.explain(reflector.Failed{Operation: row.operation, Err: fmt.Errorf("list pods: %w", row.err)})
			assert.True(t, strings.HasPrefix(p.what, row.what), p.what)
			assert.Contains(t, p.remedy, row.remedy)
			assert.Equal(t, row.final, p.final)
		})
	}
}

func TestCausesAreShort(t *testing.T) {
	p := target{}.explain(reflector.Failed{Err: errors.New(strings.Repeat("x y\n", 1000))})
	assert.Less(t, len(p.what), 400)
	assert.NotContains(t, p.what, "\n")
}
