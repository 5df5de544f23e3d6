package debug

import (
	"iter"
	"net/http"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Options are the options of a page.
type Options struct {
	// Hosts are host names, without a port, under which the page may be requested, in addition to localhost
	// and addresses.
	Hosts []string
	// AnyHost allows every host name. It is for a page behind authentication by a header, which other web
	// pages cannot send.
	AnyHost bool
}

// Page shows informers. Use [New] to make one.
type Page struct {
	options   Options
	informers []iter.Seq[factory.Held]
}

var _ http.Handler = (*Page)(nil)

// New returns a page of informers, such as those that a factory's Informers returns. The existing informers
// start measuring with this call.
func New(o Options, informers ...iter.Seq[factory.Held]) *Page {
	p := &Page{options: o, informers: informers}
	p.all()
	return p
}

// all describes all informers, without their details.
func (p *Page) all() report {
	return p.report(func(string) bool { return true }, false)
}

// report describes the informers with the wanted ids.
func (p *Page) report(wanted func(id string) bool, inDetail bool) report {
	r := report{At: time.Now()}
	ids := make(identities)
	for _, informers := range p.informers {
		for held := range informers {
			held = show.WithoutNames(held)
			subject := subjectOf(held)
			subject.id = ids.unique(subject.id)
			if wanted(subject.id) {
				r.Informers = append(r.Informers, viewOf(subject, held.Status, measure(held.Inspector(), inDetail), r.At))
			}
		}
	}
	return r
}

// figures are the measurements of an inspector.
type figures struct {
	handlers []informer.HandlerMeasures
	memory   informer.Memory
	history  []informer.Moment
	detail   *details
}

// details are the measurements shown only for a single informer.
type details struct {
	indexes, labels []indexer.IndexSize
	quarantined     []informer.QuarantinedObject
	recent          []informer.RecentEvent
}

// measure reads the figures of an inspector, which is nil for an informer of another module.
func measure(i *informer.Inspector, inDetail bool) figures {
	if i == nil {
		return figures{}
	}
	f := figures{handlers: i.Handlers(), memory: i.Memory(), history: i.History()}
	if inDetail {
		f.detail = &details{indexes: i.Indexes(), labels: i.LabelIndexes(), quarantined: i.Quarantined(), recent: i.Recent()}
	}
	return f
}
