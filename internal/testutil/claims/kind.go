package claims

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind is a kind that a script registers. It has a status and a number of replicas.
type Kind struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
}

// register adds a kind to the server, and waits until the server serves it.
func (p *player) register(ctx context.Context, s *step) error {
	k := Kind{
		Group: p.vars["ns"] + ".example.com", Version: "v1", Resource: s.resource,
		Kind:       strings.ToUpper(s.resource[:1]) + strings.TrimSuffix(s.resource[1:], "s"),
		Namespaced: s.scope == "Namespaced",
	}
	p.kinds[s.resource] = k
	if p.Register != nil {
		return p.Register(k)
	}
	if err := p.crd(ctx, http.MethodPost, definitions, k.definition(s.scope), http.StatusCreated); err != nil {
		return err
	}
	return p.until(ctx, k, http.StatusOK)
}

// unregister removes a kind, and waits until the server no longer serves it.
func (p *player) unregister(ctx context.Context, resource string) error {
	k, ok := p.kinds[resource]
	if !ok {
		return fmt.Errorf("%s is not registered", resource)
	}
	delete(p.kinds, resource)
	if err := p.remove(ctx, k); err != nil || p.Unregister != nil {
		return err
	}
	return p.until(ctx, k, http.StatusNotFound)
}

// remove removes a kind. The server may stop serving it a little later.
func (p *player) remove(ctx context.Context, k Kind) error {
	if p.Unregister != nil {
		return p.Unregister(k)
	}
	return p.crd(ctx, http.MethodDelete, definitions+"/"+k.name(), "", http.StatusOK)
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition returns the CRD of a kind whose objects may have any fields.
func (k Kind) definition(scope string) string {
	return fmt.Sprintf(`{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": %[1]q},
  "spec": {"group": %[2]q, "scope": %[3]q, "names": {"plural": %[4]q, "kind": %[5]q},
    "versions": [{"name": %[6]q, "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
      "subresources": {"status": {}, "scale": {
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"
      }}
    }]
  }
}`, k.name(), k.Group, scope, k.Resource, k.Kind, k.Version)
}

// name returns the name of a kind's definition.
func (k Kind) name() string { return k.Resource + "." + k.Group }

// crd sends a request about a definition.
func (p *player) crd(ctx context.Context, method, path, body string, want int) error {
	got, err := p.ask(ctx, &step{verb: method, path: path, body: body, header: http.Header{}})
	if err != nil {
		return err
	}
	return failUnless(got == want, "%s %s: got %d, want %d", method, path, got, want)
}

// until waits until lists of the kind are answered with a status code.
func (p *player) until(ctx context.Context, k Kind, want int) error {
	list := &step{verb: http.MethodGet, path: "/apis/" + k.Group + "/" + k.Version + "/" + k.Resource, header: http.Header{}}
	for {
		got, err := p.ask(ctx, list)
		if err != nil || got == want {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond): // a server does not announce when it serves a kind
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask sends a request, and returns the status code of the answer.
func (p *player) ask(ctx context.Context, s *step) (code int, err error) {
	r, err := p.send(ctx, s)
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}
