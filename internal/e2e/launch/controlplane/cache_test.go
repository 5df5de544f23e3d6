package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCurrentIsNewestPair(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), cache); err != nil {
		t.Fatal(err)
	}
	want := func(dir string) {
		t.Helper()
		if err := linkCurrent(cache); err != nil {
			t.Fatal(err)
		}
		p, err := current(cache)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p != nil {
			got = p.Dir
		}
		if got != dir {
			t.Errorf("current is %q, want %q", got, dir)
		}
	}

	want("")
	older, err := newPair(cache, "/bin", nil)
	if err != nil {
		t.Fatal(err)
	}
	want(older.Dir)
	newer, err := newPair(cache, "/bin", nil)
	if err != nil {
		t.Fatal(err)
	}
	want(newer.Dir)
	if err := newer.remove(); err != nil {
		t.Fatal(err)
	}
	want(older.Dir)
	if err := older.remove(); err != nil {
		t.Fatal(err)
	}
	want("")
}

func TestOnlyPairsAreOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := openPair(dir); err == nil {
		t.Errorf("opened %v, which down would remove", p)
	}
}
