package claims

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Server is an API server to play scripts against.
type Server struct {
	// URL is the base URL of the server, such as "http://127.0.0.1:8080". Client must be allowed to make
	// every request.
	URL    string
	Client *http.Client
	// Compact makes the server forget its history up to now. It is nil if the server cannot do this.
	Compact func() error
	// Register adds a kind to the server, and Unregister removes it. If they are nil, the server has
	// CRDs.
	Register, Unregister func(Kind) error
}

// Play plays a script. It returns the failed checks with their line numbers. If an expected event does
// not arrive, Play waits until ctx ends.
func (s Server) Play(ctx context.Context, script string) error {
	steps, err := parse(script)
	if err != nil {
		return err
	}
	p := &player{Server: s, vars: map[string]string{}, watches: map[string]*watch{}, kinds: map[string]Kind{}}
	defer p.close()
	if err := p.makeNamespace(ctx); err != nil {
		return fmt.Errorf("the namespace: %w", err)
	}
	for _, st := range steps {
		if st.verb == "COMPACT" && s.Compact == nil {
			break
		}
		if err := p.play(ctx, st); err != nil {
			// Later steps depend on this step.
			return errors.Join(append(p.wrong, fmt.Errorf("line %d: %w", st.line, err))...)
		}
	}
	return errors.Join(p.wrong...)
}

// player plays a script.
type player struct {
	Server
	vars    map[string]string
	watches map[string]*watch
	kinds   map[string]Kind // the registered kinds, by resource
	wrong   []error         // failed checks; the script continues after them
}

func (p *player) play(ctx context.Context, s *step) error {
	switch s.verb {
	case "COMPACT":
		return p.Compact()
	case "REGISTER":
		return p.register(ctx, s)
	case "UNREGISTER":
		return p.unregister(ctx, s.resource)
	case "WATCH":
		return p.open(ctx, s)
	case "CLOSE", "EVENT":
		w := p.watches[s.watch]
		if w == nil {
			return fmt.Errorf("there is no watch %s", s.watch)
		}
		if s.verb == "CLOSE" {
			return w.body.Close()
		}
		return p.event(w, s)
	}
	r, err := p.send(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return p.judge(s, strconv.Itoa(r.StatusCode), text)
}

// judge compares an answer or event with the expected result of a step.
func (p *player) judge(s *step, got string, text []byte) error {
	if got != s.want {
		return fmt.Errorf("got %s, want %s: %.600s", got, s.want, text)
	}
	if len(s.checks) == 0 {
		return nil
	}
	if !json.Valid(text) {
		return fmt.Errorf("the answer is not JSON: %.600s", text)
	}
	var answer any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		return err
	}
	for _, c := range s.checks {
		if err := p.check(c, answer); err != nil {
			p.wrong = append(p.wrong, fmt.Errorf("line %d: %s: %w", c.line, c.path, err))
		}
	}
	return nil
}

// send sends the request of a step.
func (p *player) send(ctx context.Context, s *step) (*http.Response, error) {
	path, err := p.fill(s.path)
	if err != nil {
		return nil, err
	}
	body, err := p.fill(s.body)
	if err != nil {
		return nil, err
	}
	method := s.verb
	if method == "WATCH" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, p.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = s.header.Clone()
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return p.Client.Do(r)
}

var variable = regexp.MustCompile(`\{[a-z][A-Za-z0-9]*\}`)

// fill replaces the variables in a text by their values.
func (p *player) fill(text string) (string, error) {
	var err error
	filled := variable.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := p.vars[name[1:len(name)-1]]
		if !ok {
			err = fmt.Errorf("%s has no value yet", name)
		}
		return value
	})
	return filled, err
}

// makeNamespace creates the script's namespace.
func (p *player) makeNamespace(ctx context.Context) error {
	err := p.play(ctx, &step{
		verb: http.MethodPost, path: "/api/v1/namespaces", body: `{"metadata": {"generateName": "claims-"}}`, want: "201",
		header: http.Header{}, checks: []check{{path: ".metadata.name", op: "=>", value: "ns"}},
	})
	return errors.Join(append(p.wrong, err)...)
}

// close closes the watches, removes the kinds, and deletes the namespace.
func (p *player) close() {
	for _, w := range p.watches {
		_ = w.body.Close()
	}
	for _, k := range p.kinds {
		_ = p.remove(context.Background(), k)
	}
	if p.vars["ns"] == "" {
		return
	}
	r, err := p.send(context.Background(), &step{verb: http.MethodDelete, path: "/api/v1/namespaces/{ns}"})
	if err == nil {
		_ = r.Body.Close()
	}
}
