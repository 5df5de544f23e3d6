package main

import (
	"log"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
)

// story is a demo cluster. Pods in its namespaces are replaced one by one, as by a Deployment.
func story(notes *log.Logger) demo.Story {
	return demo.Pods(notes,
		demo.App{Namespace: "shop", Name: "web", Replicas: 4},
		demo.App{Namespace: "billing", Name: "web", Replicas: 2})
}
