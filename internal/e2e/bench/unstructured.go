package main

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// ofUnstructured is the events of ofPods, as the dynamic client brings them.
func ofUnstructured(c config) (stream, error) {
	pods := podList(min(perGroup, c.events))
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList"}}
	list.SetResourceVersion(pods.ResourceVersion)
	for i := range pods.Items {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pods.Items[i])
		if err != nil {
			return stream{}, err
		}
		object["apiVersion"], object["kind"] = "v1", "Pod"
		list.Items = append(list.Items, unstructured.Unstructured{Object: object})
	}
	played := make([]watch.Event, c.events)
	for i := range played {
		object := &list.Items[i%len(list.Items)]
		played[i] = watch.Event{Type: watch.Modified, Object: revised(object, version(len(list.Items)+1+i))}
	}
	return stream{newUnstructured, list, played}, nil
}

// revised returns a copy at another version. It shares what is the same.
func revised(object *unstructured.Unstructured, version string) *unstructured.Unstructured {
	copied := &unstructured.Unstructured{Object: maps.Clone(object.Object)}
	copied.Object["metadata"] = maps.Clone(object.Object["metadata"].(map[string]any))
	copied.SetResourceVersion(version)
	return copied
}
