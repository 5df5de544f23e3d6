package sim_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gateway is between all clients and the server. It acts as the server's feature gate, and as a proxy
// that may refuse requests with a shardSelector.
type gateway struct {
	*http.Transport
	ring   *ring
	mutant ownMutant

	mu      sync.Mutex
	off     bool                // shardSelectors are ignored; guarded by mu
	code    int                 // the status code of refused requests, or 0; guarded by mu
	excused map[string]*excused // by replica; guarded by mu
	wrong   []string            // requests with a wrong shardSelector; guarded by mu
}

// excused says which requests of a replica may omit the selector.
type excused struct {
	repeats int       // the number of next requests, since this many were refused
	until   time.Time // all requests until then, since one was refused and then succeeded without a selector
}

func (g *gateway) change(f func(*gateway)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g)
}

const selectorName = "shardSelector"

// RoundTrip sends a request to the server.
func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	q, client := r.URL.Query(), r.UserAgent()
	selects := q.Has(selectorName)
	g.mu.Lock()
	repeats, code, off := g.admit(r.Method, client, q), g.code, g.off
	g.mu.Unlock()
	var answer *http.Response
	switch {
	case selects && code != 0:
		text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d}`, code)
		answer = &http.Response{StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}
	case selects && off:
		r = r.Clone(r.Context())
		q.Del(selectorName)
		r.URL.RawQuery = q.Encode()
		fallthrough
	default:
		sent, err := g.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer = sent
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.excused[client]
	switch refused := slices.Contains(refusals, answer.StatusCode); {
	case e == nil:
	case refused && selects:
		e.repeats++
	case repeats && answer.StatusCode == http.StatusOK:
		e.until = time.Now().Add(10*time.Minute + time.Second)
	}
	return answer, nil
}

// refusals are the status codes that say that a request is invalid.
var refusals = []int{http.StatusBadRequest, http.StatusRequestURITooLong, http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge}

// admit checks the selector of a request. It reports whether the request repeats another one that was
// refused. The caller holds mu.
func (g *gateway) admit(method, client string, q url.Values) (repeats bool) {
	n, found := strings.CutPrefix(client, replicaPrefix)
	if method != http.MethodGet || !found {
		return false
	}
	replica, err := strconv.Atoi(n)
	must(err)
	e := g.excused[client]
	if e == nil {
		e = &excused{}
		g.excused[client] = e
	}
	share, selector := g.ring.of(replica), q.Get(selectorName)
	if g.mutant.forgetsSelector {
		selector = ""
	}
	switch {
	case q.Get("limit") == "1": // the question for the newest version
		if selector != "" {
			g.wrong = append(g.wrong, fmt.Sprintf("replica %d asks for the newest version with %s", replica, selector))
		}
	case q.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact): // an audit, which reads all objects
	case selector == share.Selector() || selector == "" && time.Now().Before(e.until) || g.mutant.offByOne != nil:
	case selector == "" && e.repeats > 0:
		e.repeats--
		return true
	default:
		g.wrong = append(g.wrong, fmt.Sprintf("replica %d asks with %q, but has the share %v", replica, selector, share))
	}
	return false
}
