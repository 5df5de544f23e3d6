package debug

import (
	"iter"
	"net/http"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Options say to whom a page shows what.
type Options struct {
	// Hosts are the names, without a port, under which the page is asked for, beside
	// localhost and addresses.
	Hosts []string
	// SecretNames shows the names of Secrets, and of objects whose kind is not known.
	SecretNames bool
}

// Page shows informers. It is made by [New].
type Page struct {
	options Options
	of      []iter.Seq[factory.Held]
}

var _ http.Handler = (*Page)(nil)

// New returns a page of some informers, such as those of [factory.InUse], and makes those
// that there are measure from now on.
func New(o Options, informers ...iter.Seq[factory.Held]) *Page {
	p := &Page{options: o, of: informers}
	p.Report()
	return p
}

// Report looks at all informers. It leaves out what is told of a single one only.
func (p *Page) Report() Report {
	return p.report(func(string) bool { return true }, false)
}

// report looks at the informers whose ids are wanted.
func (p *Page) report(wanted func(id string) bool, inDetail bool) Report {
	r := Report{At: time.Now()}
	ids := make(identities)
	for _, informers := range p.of {
		for held := range informers {
			subject := p.subject(held)
			subject.id = ids.give(subject.id)
			if wanted(subject.id) {
				r.Informers = append(r.Informers, look(subject, held.Status, measure(held.Inspector(), inDetail), r.At))
			}
		}
	}
	return r
}

// figures are what an inspector has measured.
type figures struct {
	handlers []informer.HandlerMeasures
	memory   informer.Memory
	history  []informer.Moment
	detail   *details
}

// details are the figures that only the view of one informer shows.
type details struct {
	indexes, labels []informer.IndexMeasures
	quarantined     []informer.QuarantinedObject
	recent          []informer.RecentEvent
}

// measure asks an inspector, which is nil for an informer of another module.
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
