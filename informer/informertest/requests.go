package informertest

import "maps"

// Requests are received requests, the oldest first.
type Requests []Request

// Of returns the requests that a pattern selects: [Requests] of Request{Verb: "patch", Resource:
// "pods"} are the patches of pods.
func (all Requests) Of(these Request) Requests {
	var found Requests
	for _, r := range all {
		if r.is(these) {
			found = append(found, r)
		}
	}
	return found
}

// The number of kept requests is bounded, since a server may live for long.
const (
	keptRequests = 4096
	keptBody     = 16 << 10
)

// journal keeps the newest requests.
type journal struct {
	counts map[string]int // by verb, see [Server.Counts]
	// kept are the requests. Invariant: len(kept) < 2*keptRequests.
	kept []*Request
}

// add keeps a request, and returns a pointer to the kept one.
func (j *journal) add(r Request) *Request {
	j.count(r)
	if len(j.kept) == 2*keptRequests-1 {
		n := copy(j.kept, j.kept[keptRequests:])
		clear(j.kept[n:])
		j.kept = j.kept[:n]
	}
	j.kept = append(j.kept, &r)
	return &r
}

// count counts a request.
func (j *journal) count(r Request) {
	if j.counts == nil {
		j.counts = map[string]int{}
	}
	if r.Verb == "watch" && r.streams {
		r.Verb = "watchlist"
	}
	j.counts[r.Verb]++
}

// requests returns the newest kept requests, up to the promised number.
func (j *journal) requests() Requests {
	kept := j.kept[max(0, len(j.kept)-keptRequests):]
	all := make(Requests, 0, len(kept))
	for _, r := range kept {
		all = append(all, *r)
	}
	return all
}

// Requests returns the newest 4,096 requests received so far, through a [Server.Source] or over HTTP, for
// a test's assertions about a controller. It includes refused requests, but neither unreadable ones
// nor a test's calls of the server's methods. Call [Server.Settle] first, to let the controller's
// informers come to rest.
func (s *Server) Requests() Requests {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.requests()
}

// Counts returns the number of requests received so far by verb, including those that [Server.Requests] no
// longer has. A watch with the initial state counts as "watchlist". A request for a subresource counts like any
// other.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.journal.counts)
}

// noteBody keeps the beginning of a request's body.
func (s *Server) noteBody(r *Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Body = string(body[:min(len(body), keptBody)])
}
