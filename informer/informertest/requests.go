package informertest

import "maps"

// Requests holds received requests, the oldest first.
type Requests []Request

// Of returns the requests that a pattern selects. For example, Of(Request{Verb: "patch", Resource: "pods"})
// returns the patches of pods.
func (all Requests) Of(these Request) Requests {
	var found Requests
	for _, r := range all {
		if r.is(these) {
			found = append(found, r)
		}
	}
	return found
}

// A server may run for a long time, so it keeps a limited number of requests.
const (
	keptRequests = 4096
	keptBody     = 16 << 10
)

// journal keeps the newest requests.
type journal struct {
	counts map[string]int // by verb, see [Server.Counts]
	// kept holds the requests. Invariant: len(kept) < 2*keptRequests.
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

// requests returns the newest keptRequests requests.
func (j *journal) requests() Requests {
	kept := j.kept[max(0, len(j.kept)-keptRequests):]
	all := make(Requests, 0, len(kept))
	for _, r := range kept {
		all = append(all, *r)
	}
	return all
}

// Requests returns the newest 4,096 requests that the server has received, through a [Server.Source] or over
// HTTP, so that a test can check what a controller has sent. It includes refused requests, but not requests
// that could not be read, and not calls of the server's methods. Call [Server.Settle] first, to let the
// controller's informers catch up.
func (s *Server) Requests() Requests {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.requests()
}

// Counts returns the number of requests by verb, including those that [Server.Requests] no longer has. A
// watch with the initial state counts as "watchlist". Requests for subresources are included.
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
