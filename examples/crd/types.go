package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// CronTab is the Go type of the custom resource. Such a type needs metadata and the method DeepCopyObject,
// which deepcopy-gen or controller-gen can generate.
type CronTab struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              CronTabSpec `json:"spec"`
}

// CronTabSpec is the command and its schedule.
type CronTabSpec struct {
	Schedule string `json:"schedule"`
	Image    string `json:"image"`
}

// CronTabList is the response to a list request.
type CronTabList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []CronTab `json:"items"`
}

// DeepCopyObject makes CronTab a runtime.Object.
func (c *CronTab) DeepCopyObject() runtime.Object {
	twin := *c
	c.DeepCopyInto(&twin.ObjectMeta)
	return &twin
}

// DeepCopyObject makes CronTabList a runtime.Object.
func (l *CronTabList) DeepCopyObject() runtime.Object {
	twin := *l
	l.DeepCopyInto(&twin.ListMeta)
	twin.Items = make([]CronTab, len(l.Items))
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopyObject().(*CronTab)
	}
	return &twin
}

var (
	groupVersion = schema.GroupVersion{Group: "stable.example.com", Version: "v1"}
	resource     = groupVersion.WithResource("crontabs")
)

// cronTabs returns the resource and the source of CronTabs. A generated client, such as
// client.StableV1().CronTabs(namespace), can replace the client made here.
func cronTabs(config *rest.Config) (factory.Resource, error) {
	known := runtime.NewScheme()
	known.AddKnownTypes(groupVersion, &CronTab{}, &CronTabList{})
	metav1.AddToGroupVersion(known, groupVersion)
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &groupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return factory.Resource{}, err
	}
	return factory.Resource{GVR: resource, Namespaced: true, Source: func(namespace string) (reflector.Source, error) {
		cronTabs := gentype.NewClientWithList(resource.Resource, client, runtime.NewParameterCodec(known), namespace,
			func() *CronTab { return &CronTab{} }, func() *CronTabList { return &CronTabList{} })
		return reflector.FromCustomResource[*CronTab](cronTabs, resource), nil // this source also detects a resource that the server lacks
	}}, nil
}
