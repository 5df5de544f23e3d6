package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	metadataclient "k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// target identifies the cluster and namespace to read. Each process reads the kubeconfig itself, so that the
// processes exchange no credentials.
type target struct {
	Kubeconfig, Context string
	Namespace           string // empty for all
	Host                string // of the demo; empty for the kubeconfig's
}

// config returns the configuration of clients. agent is their name in the server's log.
func (t target) config(agent string) (config *rest.Config, err error) {
	if t.Host != "" {
		config = &rest.Config{Host: t.Host}
	} else {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = t.Kubeconfig
		overrides := &clientcmd.ConfigOverrides{CurrentContext: t.Context}
		if config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig(); err != nil {
			return nil, fmt.Errorf("--kubeconfig and --context select no cluster (--demo needs none): %w", err)
		}
	}
	return rest.AddUserAgent(config, "tidemark-compare/"+agent), nil
}

// connection is the parent's connection to the server.
type connection struct {
	target
	discovery discovery.CachedDiscoveryInterface // one request for all names
	typed     kubernetes.Interface
	metadata  metadataclient.Interface
}

func connect(t target) (*connection, error) {
	config, err := t.config("survey")
	if err != nil {
		return nil, err
	}
	c := &connection{target: t}
	var errs [3]error
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	c.discovery, errs[0] = memory.NewMemCacheClient(kinds), err
	c.typed, errs[1] = kubernetes.NewForConfig(config)
	c.metadata, errs[2] = metadataclient.NewForConfig(config)
	return c, errors.Join(errs[:]...)
}

// resolve finds the kinds with these names.
func (c *connection) resolve(names []string) ([]kind, error) {
	groups, err := restmapper.GetAPIGroupResources(c.discovery)
	if err != nil {
		return nil, fmt.Errorf("the kinds of the server are unknown: %w", err)
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), c.discovery, nil)
	var kinds []kind
	seen := map[string]string{}
	for _, name := range names {
		mapping, err := mappingOf(mapper, name)
		if meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("--kinds: %s: %w; %w", name, errUnknownKind, errUsage)
		} else if err != nil {
			return nil, fmt.Errorf("--kinds: %s: %w", name, err)
		}
		resource := mapping.Resource
		k := kind{
			Name: resource.GroupResource().String(), Resource: resource,
			Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace, Reading: readingOf(resource, hasType(c.typed, resource)),
		}
		if other, ok := seen[k.Name]; ok {
			return nil, fmt.Errorf("--kinds: %s and %s are the same kind; %w", other, name, errUsage)
		}
		seen[k.Name] = name
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func mappingOf(mapper meta.RESTMapper, name string) (mapping *meta.RESTMapping, err error) {
	for _, candidate := range resourceOf(name) {
		resource, e := mapper.ResourceFor(candidate)
		if e != nil {
			err = e
			continue
		}
		object, e := mapper.KindFor(resource)
		if e != nil {
			return nil, e
		}
		if mapping, err = mapper.RESTMapping(object.GroupKind(), object.Version); err == nil {
			mapping.Resource = resource
			return mapping, nil
		}
	}
	return nil, err
}

// survey counts the objects of each kind, and finds the kinds that may be listed and watched.
func (c *connection) survey(ctx context.Context, kinds []kind) (survey, error) {
	var s survey
	for _, k := range kinds {
		objects, err := c.probe(ctx, k)
		switch {
		case ctx.Err() != nil:
			return s, ctx.Err()
		case err != nil:
			s.LeftOut = append(s.LeftOut, leftOut{k.Name, oneLine(err.Error())})
		default:
			s.Kinds, s.Objects = append(s.Kinds, k), append(s.Objects, objects)
		}
	}
	return s, nil
}

// probe sends a list of one object, and a watch that it closes at once. It returns the server's number of
// objects, or a lower bound if the server does not count the remaining ones.
func (c *connection) probe(ctx context.Context, k kind) (objects int, err error) {
	list, _, err := c.first(ctx, k)
	if err != nil {
		return 0, err
	}
	watch, err := c.in(k).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, TimeoutSeconds: new(int64(1))})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNotWatched, err)
	}
	watch.Stop()
	objects = len(list.Items)
	if list.RemainingItemCount != nil {
		objects += int(*list.RemainingItemCount)
	}
	return objects, nil
}

// versions returns the server's current version of each kind.
func (c *connection) versions(ctx context.Context, kinds []kind) (map[string]uint64, error) {
	all := map[string]uint64{}
	for _, k := range kinds {
		var err error
		if _, all[k.Name], err = c.first(ctx, k); err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	return all, nil
}

// first lists one object of a kind. It also returns the version of the list, which must be a number.
func (c *connection) first(ctx context.Context, k kind) (list *metav1.PartialObjectMetadataList, version uint64, err error) {
	if list, err = c.in(k).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return nil, 0, err
	}
	if version, err = strconv.ParseUint(list.ResourceVersion, 10, 64); err != nil {
		return nil, 0, fmt.Errorf("the version of a list is not a number: %w", err)
	}
	return list, version, nil
}

func (c *connection) in(k kind) metadataclient.ResourceInterface {
	return c.metadata.Resource(k.Resource).Namespace(k.namespace(c.Namespace))
}

// path returns the end of the path of the kind's lists and watches.
func (k kind) path(chosen string) string {
	path := "/apis/" + k.Resource.GroupVersion().String()
	if k.Resource.Group == "" {
		path = "/api/" + k.Resource.Version
	}
	if namespace := k.namespace(chosen); namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + k.Resource.Resource
}

// namespace returns the namespace of the kind's lists and watches: the user's choice, or none for a
// cluster-scoped kind.
func (k kind) namespace(chosen string) string {
	if !k.Namespaced {
		return metav1.NamespaceAll
	}
	return chosen
}
