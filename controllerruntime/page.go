package controllerruntime

import (
	"maps"
	"net/http"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tidemark-k8s/tidemark/factory/debug"
)

// pagePath is the path of the page on the manager's metrics server.
const pagePath = "/debug/informers"

// addPage adds the page to the manager's metrics server, if it is wanted.
func (in *Informers) addPage(o *ctrl.Options) error {
	filtered := o.Metrics.FilterProvider != nil
	wanted := filtered
	if in.settings.page != nil {
		wanted = *in.settings.page
	}
	_, taken := o.Metrics.ExtraHandlers[pagePath]
	switch {
	case !wanted:
		return nil
	case o.Metrics.BindAddress == "0":
		ctrl.Log.Info("The page of informers is not served: the manager has no metrics server", "path", pagePath)
		return nil
	case taken:
		return contradiction("the metrics server's ExtraHandlers have " + pagePath + " already; Page(false) leaves it to them")
	}
	handlers := map[string]http.Handler{pagePath: debug.New(debug.Options{AnyHost: filtered}, in.All())}
	maps.Copy(handlers, o.Metrics.ExtraHandlers)
	o.Metrics.ExtraHandlers = handlers
	return nil
}
