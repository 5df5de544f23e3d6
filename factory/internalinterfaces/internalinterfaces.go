package internalinterfaces

import "k8s.io/client-go/informers/internalinterfaces"

// InformerOptions is client-go's type of that name, which
// [github.com/tidemark-k8s/tidemark/factory.NewInformerWithOptions] takes.
type InformerOptions = internalinterfaces.InformerOptions

// NewInformerFunc is client-go's type of that name.
type NewInformerFunc = internalinterfaces.NewInformerFunc

// SharedInformerFactory is client-go's interface of that name.
type SharedInformerFactory = internalinterfaces.SharedInformerFactory

// TweakListOptionsFunc is client-go's type of that name.
type TweakListOptionsFunc = internalinterfaces.TweakListOptionsFunc
