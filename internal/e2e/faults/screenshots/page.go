package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// shownInformer is the page's information about an informer.
type shownInformer struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Findings []struct {
		State string `json:"state"`
		Why   string `json:"why"`
	} `json:"findings"`
	Totals struct {
		Bookmarks uint64 `json:"bookmarks"`
	} `json:"totals"`
}

// read reads what the page at a URL shows about all informers.
func read(ctx context.Context, url string) ([]shownInformer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?format=json", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s", errPage, answer.Status)
	}
	var report struct {
		Informers []shownInformer `json:"informers"`
	}
	err = json.NewDecoder(answer.Body).Decode(&report)
	return report.Informers, err
}
