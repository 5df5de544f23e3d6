package informertest

// Requests are requests that came in, the oldest first.
type Requests []Request

// Of returns those that a pattern stands for: [Requests] of
// Request{Verb: "patch", Resource: "pods"} are the patches of pods.
func (all Requests) Of(these Request) Requests {
	var found Requests
	for _, r := range all {
		if r.is(these) {
			found = append(found, r)
		}
	}
	return found
}

// Counts counts requests by what they ask for.
type Counts struct {
	Get, List, Create, Update, Patch, Delete, DeleteCollection int
	// Watch counts the plain watches, WatchList those that ask for the
	// initial state.
	Watch, WatchList int
}

// count adds a request.
func (c *Counts) count(r Request) {
	switch r.Verb {
	case "get":
		c.Get++
	case "list":
		c.List++
	case "create":
		c.Create++
	case "update":
		c.Update++
	case "patch":
		c.Patch++
	case "delete":
		c.Delete++
	case "deletecollection":
		c.DeleteCollection++
	case "watch":
		if r.streams {
			c.WatchList++
		} else {
			c.Watch++
		}
	}
}

// What is kept of requests is bounded, since a server may live for long.
const (
	keptRequests = 4096
	keptBody     = 16 << 10
)

// journal keeps the newest requests.
type journal struct {
	counts Counts
	// kept are the requests. Invariant: len(kept) < 2*keptRequests.
	kept []*Request
}

// add keeps a request, and returns where it is kept.
func (j *journal) add(r Request) *Request {
	j.counts.count(r)
	if len(j.kept) == 2*keptRequests-1 {
		n := copy(j.kept, j.kept[keptRequests:])
		clear(j.kept[n:])
		j.kept = j.kept[:n]
	}
	j.kept = append(j.kept, &r)
	return &r
}

// requests returns the newest of what is kept, as far as it is promised.
func (j *journal) requests() Requests {
	kept := j.kept[max(0, len(j.kept)-keptRequests):]
	all := make(Requests, 0, len(kept))
	for _, r := range kept {
		all = append(all, *r)
	}
	return all
}

// Requests returns the requests that came in so far, through a [Source] or over
// HTTP, the newest 4,096 of them: what a test asserts of a controller. Those
// that were refused are among them, those that could not even be read are not,
// nor is what a test does by calling methods of the server. [Server.Settle] first
// lets the controller's informers come to rest.
func (s *Server) Requests() Requests {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.requests()
}

// Counts returns how many requests came in so far, also of those that
// [Server.Requests] has no longer. Those for a subresource count as the others.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.counts
}

// noteBody keeps the beginning of what a request has brought.
func (s *Server) noteBody(r *Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Body = string(body[:min(len(body), keptBody)])
}
