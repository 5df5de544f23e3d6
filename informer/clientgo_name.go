package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// handlerName names a handler for messages: by its type, or, of one that is
// made of functions, by where these are.
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
	if name == "" {
		return fmt.Sprintf("%T", h)
	}
	return name
}

// funcsName returns what the full names of functions have in common up to a
// dot, such as the function that they are written in; failing that, all of them.
func funcsName(funcs ...any) string {
	var names, places []string
	for _, f := range funcs {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		name := runtime.FuncForPC(v.Pointer()).Name()
		names = append(names, name)
		places = append(places, name[:max(0, strings.LastIndexByte(name, '.'))])
	}
	if slices.Sort(places); len(slices.Compact(places)) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
