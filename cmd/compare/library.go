package main

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicclient "k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	metadataclient "k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	ourdynamic "github.com/tidemark-k8s/tidemark/factory/dynamicinformer"
	ourinformers "github.com/tidemark-k8s/tidemark/factory/informers"
	ourmetadata "github.com/tidemark-k8s/tidemark/factory/metadatainformer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// library is client-go or tidemark. Programs make the same calls of both.
type library struct {
	wrap     func(*rest.Config)
	typed    func(c kubernetes.Interface, namespace string) informers.SharedInformerFactory
	dynamic  func(c dynamicclient.Interface, namespace string) dynamicinformer.DynamicSharedInformerFactory
	metadata func(c metadataclient.Interface, namespace string) metadatainformer.SharedInformerFactory
}

// The names of the two libraries that are compared.
const (
	clientGo = "client-go"
	tidemark = "tidemark"
)

func libraryOf(side string) library {
	if side == tidemark {
		return library{
			wrap: func(config *rest.Config) { config.Wrap(reflector.Wire) },
			typed: func(c kubernetes.Interface, namespace string) informers.SharedInformerFactory {
				return ourinformers.NewSharedInformerFactoryWithOptions(c, 0, ourinformers.WithNamespace(namespace))
			},
			dynamic: func(c dynamicclient.Interface, namespace string) dynamicinformer.DynamicSharedInformerFactory {
				return ourdynamic.NewFilteredDynamicSharedInformerFactory(c, 0, namespace, nil)
			},
			metadata: func(c metadataclient.Interface, namespace string) metadatainformer.SharedInformerFactory {
				return ourmetadata.NewFilteredSharedInformerFactory(c, 0, namespace, nil)
			},
		}
	}
	return library{
		wrap: func(*rest.Config) {},
		typed: func(c kubernetes.Interface, namespace string) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(namespace))
		},
		dynamic: func(c dynamicclient.Interface, namespace string) dynamicinformer.DynamicSharedInformerFactory {
			return dynamicinformer.NewFilteredDynamicSharedInformerFactory(c, 0, namespace, nil)
		},
		metadata: func(c metadataclient.Interface, namespace string) metadatainformer.SharedInformerFactory {
			return metadatainformer.NewFilteredSharedInformerFactory(c, 0, namespace, nil)
		},
	}
}

// runner has the methods that all factories have in common.
type runner interface {
	Start(stop <-chan struct{})
	Shutdown()
}

// informers makes an informer for each kind, and returns the factories that run them.
func (l library) informers(config *rest.Config, namespace string, kinds []kind) (all []*watched, run []runner, err error) {
	for _, k := range kinds {
		all = append(all, &watched{kind: k, path: k.path(namespace)})
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, all} })
	inProtobuf := rest.CopyConfig(config)
	inProtobuf.ContentType, inProtobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	typedClient, err := kubernetes.NewForConfig(inProtobuf)
	if err != nil {
		return nil, nil, err
	}
	l.wrap(config)
	dynamicClient, err := dynamicclient.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	metadataClient, err := metadataclient.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	ofTypes := l.typed(typedClient, namespace)
	run = []runner{ofTypes}
	for i, k := range kinds {
		var one informers.GenericInformer
		switch k.Reading {
		case typed:
			if one, err = ofTypes.ForResource(k.Resource); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", k.Name, err)
			}
		case metadata:
			f := l.metadata(metadataClient, k.namespace(namespace))
			one, run = f.ForResource(k.Resource), append(run, f)
		case dynamic:
			f := l.dynamic(dynamicClient, k.namespace(namespace))
			one, run = f.ForResource(k.Resource), append(run, f)
		}
		all[i].informer = one.Informer()
	}
	return all, run, nil
}

// hasType reports whether client-go has a Go type and an informer for a resource. The factory that it asks
// never runs.
func hasType(c kubernetes.Interface, resource schema.GroupVersionResource) bool {
	_, err := informers.NewSharedInformerFactory(c, 0).ForResource(resource)
	return err == nil
}
