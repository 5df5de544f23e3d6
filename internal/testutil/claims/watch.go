package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// watch is a response with events.
type watch struct {
	body   io.Closer
	events *json.Decoder
}

// open opens a watch. If the server refuses it, the answer is checked like any other.
func (p *player) open(ctx context.Context, s *step) error {
	r, err := p.send(ctx, s)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		return p.judge(s, strconv.Itoa(r.StatusCode), text)
	}
	p.watches[s.watch] = &watch{body: r.Body, events: json.NewDecoder(r.Body)}
	return p.judge(s, "200", nil)
}

// event waits for the next event of a watch, or for the end of the watch.
func (p *player) event(w *watch, s *step) error {
	for {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		err := w.events.Decode(&e)
		switch {
		case errors.Is(err, io.EOF):
			return p.judge(s, "END", nil)
		case err != nil:
			return fmt.Errorf("waiting for %s: %w", s.want, err)
		case e.Type == "BOOKMARK" && s.want != "BOOKMARK":
			continue
		}
		return p.judge(s, e.Type, e.Object)
	}
}
