package share

import "sync"

// Site is a place in a kind's schema at which values are shared, such as the
// field env of a container. Values of different sites are never mixed up.
type Site uint32

var sites struct {
	mu    sync.Mutex
	paths []string
}

// NewSite returns a new site. Path names it in messages, such as
// "Container.env". It may be called from any goroutine.
func NewSite(path string) Site {
	sites.mu.Lock()
	defer sites.mu.Unlock()

	sites.paths = append(sites.paths, path)
	return Site(len(sites.paths) - 1) //nolint:gosec // a few thousand
}

// String returns the path of the site.
func (s Site) String() string {
	sites.mu.Lock()
	defer sites.mu.Unlock()

	return sites.paths[s]
}

// gaugePage is how many gauges are made at once: the sites of one Go type lie
// next to each other.
const gaugePage = 64

// gauges holds the gauges of the sites that a table has met.
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
