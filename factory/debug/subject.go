package debug

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// subject identifies an informer's objects, and says what the page may show of them.
type subject struct {
	id, name string
	secret   bool // show no object's name, and only the class of an error
}

// subjectOf returns the subject of an informer.
func subjectOf(h factory.Held) subject {
	return subject{identity(h), printable(h.Name()), show.IsSecret(h)}
}

// key formats an object's key as the page may show it. The key of a call that has not returned may be
// unknown.
func (s subject) key(k indexer.Key) string {
	if k == (indexer.Key{}) {
		return "–"
	}
	if s.secret {
		k = show.HideName(k)
	}
	return printable(k.String())
}

// identity returns an id that stays the same in the next run of the program.
func identity(h factory.Held) string {
	of := []string{h.Resource.Resource, h.Resource.Version, h.Resource.Group}
	if h.Resource.Empty() {
		of = []string{"informer"}
	}
	hash := fnv.New32a()
	_, _ = fmt.Fprintf(hash, "%v %q %q %q", h.Type, h.Scope.Namespaces, h.Scope.Labels, h.Scope.Fields)
	if h.Resource.Empty() {
		_, _ = fmt.Fprintf(hash, "%q", h.Status.Name)
	}
	return fmt.Sprintf("%s-%08x", strings.Trim(strings.Join(of, "."), "."), hash.Sum32())
}

// identities count how often each id was used.
type identities map[string]int

// unique makes an id unique, because two factories may hold informers of the same scope.
func (i identities) unique(id string) string {
	i[id]++
	if n := i[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// longestName is the length in bytes to which a name is cut: that of the longest valid name.
const longestName = 253

// printable makes a name from the server safe to read: on one line, without characters that change the
// direction of text or hide a part of it.
func printable(name string) string {
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}
