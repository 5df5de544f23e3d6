package informer

import (
	"cmp"

	"k8s.io/client-go/tools/cache"
)

// handlerName names a handler for messages, as client-go does: by its type or, if it consists of
// functions, by their place in the source.
func handlerName(h cache.ResourceEventHandler) string {
	name := ""
	switch h := h.(type) {
	case cache.ResourceEventHandlerFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case cache.ResourceEventHandlerDetailedFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerDetailedFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	}
	return cmp.Or(name, typeName(h))
}
