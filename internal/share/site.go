package share

import "sync"

// Site is a place in a kind's schema with shared values, such as the field env of a container.
// Equal bytes at different sites are different values.
type Site uint32

var sites struct {
	mu    sync.Mutex
	paths []string
}

// NewSite returns a new site. Its path, such as "Container.env", stands in messages. Any
// goroutine may call it.
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

// gaugePage is the number of gauges allocated at once: the sites of one Go type lie next to each
// other.
const gaugePage = 64

// gauges holds a table's gauges by site.
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
