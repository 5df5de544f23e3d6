package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cacheDir returns the folder in which build.sh stores the binaries, and pairs store their folders.
func cacheDir() (string, error) {
	if dir := os.Getenv("TIDEMARK_E2E_CACHE"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("TIDEMARK_E2E_CACHE=%s is not an absolute path", dir)
		}
		return dir, nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "tidemark", "e2e"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache", "tidemark", "e2e"), err
}

// current returns the newest pair, or nil.
func current(cache string) (*pair, error) {
	p, err := openPair(filepath.Join(cache, "current"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return p, err
}

// linkCurrent points the link "current" in the cache to the newest pair, and
// removes it if there is none.
func linkCurrent(cache string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	newest := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "pair-") {
			newest = e.Name()
		}
	}
	link := filepath.Join(cache, "current")
	if newest == "" {
		err := os.Remove(link)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	next := fmt.Sprintf("%s.%d", link, os.Getpid()) // a rename replaces an existing link, but a symlink call does not
	return errors.Join(os.Symlink(newest, next), os.Rename(next, link))
}
