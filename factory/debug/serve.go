package debug

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ServeHTTP serves the page, see the package's guarantees.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	query := r.URL.Query()
	id, format := query.Get("informer"), query.Get("format")
	switch {
	case !p.options.AnyHost && !p.isHost(r.Host):
		http.Error(w, "this page is served only under localhost, addresses and the names in debug.Options.Hosts", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
	case format != "" && format != "html" && format != "json":
		http.Error(w, "the format must be html or json", http.StatusBadRequest)
	default:
		of := p.report(func(i string) bool { return id == "" || i == id }, id != "")
		answer(w, r, of, id != "", format == "json")
	}
}

// answer sends a report of all informers, or of a single one.
func answer(w http.ResponseWriter, r *http.Request, of report, single, asJSON bool) {
	if single && len(of.Informers) == 0 {
		http.Error(w, "no informer has this id", http.StatusNotFound)
		return
	}
	var body bytes.Buffer
	var err error
	if asJSON {
		w.Header().Set("Content-Type", "application/json")
		err = json.NewEncoder(&body).Encode(of)
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = render(&body, of, single)
	}
	if err != nil {
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method == http.MethodGet {
		_, _ = body.WriteTo(w) // a write fails only if the client is gone
	}
}

// protect sets headers that keep other pages from reading the response, and foreign scripts out of it.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// isHost reports whether the page may be served under the requested host name. Addresses are always allowed,
// because an attacker can make a name point here, but not an address.
func (p *Page) isHost(asked string) bool {
	host := asked
	if name, _, err := net.SplitHostPort(asked); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	is := func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), host) }
	return host != "" && (is("localhost") || slices.ContainsFunc(p.options.Hosts, is))
}
