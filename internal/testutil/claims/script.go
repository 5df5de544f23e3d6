package claims

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// step is a request or a watch event, with its checks.
type step struct {
	line   int
	verb   string // a method, WATCH, CLOSE, EVENT, COMPACT, REGISTER, or UNREGISTER
	watch  string // the watch's name
	path   string
	header http.Header
	body   string
	want   string // a status code, or the type of an event
	checks []check
	// resource and scope belong to a kind to register.
	resource, scope string
}

// check is one check of an answer.
type check struct {
	line            int
	path, op, value string
}

var (
	methodLine = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (\S+)$`)
	watchLine  = regexp.MustCompile(`^WATCH (\w+) (\S+)$`)
	closeLine  = regexp.MustCompile(`^CLOSE (\w+)$`)
	eventLine  = regexp.MustCompile(`^(\w+) (ADDED|MODIFIED|DELETED|BOOKMARK|ERROR|END)$`)
	kindLine   = regexp.MustCompile(`^REGISTER (\w+) (Namespaced|Cluster)$`)
	goneLine   = regexp.MustCompile(`^UNREGISTER (\w+)$`)
	headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]+): (.+)$`)
	checkLine  = regexp.MustCompile(`^\s+(\.\S*?(?:\["[^"]+"\])?\S*) (?:(exists|absent)|(has|len|>=|>|=>|hash=>) (.+)|(.+))$`)
)

// parse reads a script.
func parse(script string) (steps []*step, err error) {
	var last *step
	begin := func(s step) {
		last = &s
		steps = append(steps, last)
	}
	for i, line := range strings.Split(script, "\n") {
		n := i + 1
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case match(methodLine, line) != nil:
			m := match(methodLine, line)
			begin(step{line: n, verb: m[1], path: m[2], header: http.Header{}})
		case match(watchLine, line) != nil:
			m := match(watchLine, line)
			begin(step{line: n, verb: "WATCH", watch: m[1], path: m[2], header: http.Header{}})
		case match(closeLine, line) != nil:
			begin(step{line: n, verb: "CLOSE", watch: match(closeLine, line)[1]})
		case match(eventLine, line) != nil:
			m := match(eventLine, line)
			begin(step{line: n, verb: "EVENT", watch: m[1], want: m[2]})
		case match(kindLine, line) != nil:
			m := match(kindLine, line)
			begin(step{line: n, verb: "REGISTER", resource: m[1], scope: m[2]})
		case match(goneLine, line) != nil:
			begin(step{line: n, verb: "UNREGISTER", resource: match(goneLine, line)[1]})
		case line == "COMPACT":
			begin(step{line: n, verb: line})
		case last == nil || !last.add(n, line):
			return nil, fmt.Errorf("line %d is invalid: %s", n, line)
		}
	}
	for _, s := range steps {
		if s.path != "" && s.want == "" {
			return nil, fmt.Errorf("line %d: no status code is expected", s.line)
		}
	}
	return steps, nil
}

func match(r *regexp.Regexp, line string) []string { return r.FindStringSubmatch(line) }

// add reads a line that belongs to a step: first headers, then the body, the status code, and the
// checks.
func (s *step) add(n int, line string) bool {
	switch {
	case s.want != "":
		m := match(checkLine, line)
		if m == nil {
			return false
		}
		c := check{line: n, path: m[1], op: m[2] + m[3], value: m[4] + m[5]}
		s.checks = append(s.checks, c)
	case strings.HasPrefix(line, "= ") && s.path != "":
		s.want = strings.TrimPrefix(line, "= ")
	case s.body == "" && match(headerLine, line) != nil && s.path != "":
		m := match(headerLine, line)
		s.header.Add(m[1], m[2])
	case s.path != "":
		s.body += line + "\n"
	default:
		return false
	}
	return true
}
