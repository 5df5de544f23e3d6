package debug

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// subject is what an informer is of, and how much of that is shown.
type subject struct {
	id, name   string
	secret     bool // errors are told as their class alone
	namesShown bool
}

// subject says what an informer is of. A field selector may hold the name of a Secret.
func (p *Page) subject(h factory.Held) subject {
	s := subject{secret: isSecret(h)}
	s.namesShown = !s.secret || p.options.SecretNames
	hidden := !s.namesShown && h.Scope.Fields != ""
	if hidden {
		h.Scope.Fields = ""
	}
	s.id, s.name = identity(h), plain(h.Name())
	if hidden {
		s.name += " with some fields (hidden)"
	}
	return s
}

// isSecret tells whether an informer is of Secrets, or may be.
func isSecret(h factory.Held) bool {
	switch {
	case !h.Resource.Empty():
		return h.Resource.Group == "" && h.Resource.Resource == "secrets"
	case h.Type == nil:
		return true
	}
	object := h.Type.String()
	return object == "*v1.Secret" || object == "*unstructured.Unstructured" || object == "*v1.PartialObjectMetadata"
}

// key spells an object's key, as far as it may be shown. That of a call which has not
// returned may not be known.
func (s subject) key(k indexer.Key) string {
	if k == (indexer.Key{}) {
		return "–"
	}
	if s.namesShown {
		return plain(k.String())
	}
	if k.Namespace == "" {
		return hiddenName
	}
	return plain(k.Namespace) + "/" + hiddenName
}

const hiddenName = "(hidden)"

// identity is an id that the same informer has in the next run, too.
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

// identities are how often each id was given out.
type identities map[string]int

// give makes an id unique: two factories may hold informers of the same scope.
func (i identities) give(id string) string {
	i[id]++
	if n := i[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// longestName is how many bytes of a name are shown: those that a name may have.
const longestName = 253

// plain makes a name one that can be read, whatever the server sent: on one line, with
// nothing that turns the direction of a text or hides a part of it.
func plain(name string) string {
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
