package share

import "sync/atomic"

// Site is a place in a kind's schema with shared values, such as the field env of a container.
// Equal bytes at different sites are different values.
type Site uint32

var sites atomic.Uint32

// NewSite returns a new site. Any goroutine may call it.
func NewSite() Site { return Site(sites.Add(1) - 1) }

// gaugePage is the number of gauges allocated together. The sites of one Go type are next to each other.
const gaugePage = 64

// gauges holds the gauges of a table by site.
type gauges [][]gauge

func (g *gauges) of(s Site) *gauge {
	page := int(s / gaugePage)
	for len(*g) <= page {
		*g = append(*g, nil)
	}
	if (*g)[page] == nil {
		(*g)[page] = make([]gauge, gaugePage)
	}
	return &(*g)[page][s%gaugePage]
}
