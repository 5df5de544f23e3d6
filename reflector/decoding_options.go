package reflector

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/internal/fields"
)

// Decoding says how the objects of a source are decoded. All but Drop concerns
// sources whose answers the reflector reads itself, see [FromGenerated] and [Wire].
// The zero value shares equal values, leaves nothing out, and lets an object that
// cannot be decoded cost itself alone.
type Decoding struct {
	// Unshared gives every object values of its own. Otherwise equal strings, and
	// equal nested values of objects of one kind, are stored once; a program that
	// writes into a cached object, which it must not, then changes others as well.
	// What programs most often write into is never shared: labels, annotations,
	// finalizers and owner references, the data of ConfigMaps and Secrets, node
	// selectors.
	Unshared bool
	// ShareBytes bounds what is kept of an informer's objects to find equal
	// values; zero for 8 MiB.
	ShareBytes int
	// Drop names fields to be left out of all objects, such as
	// "metadata.managedFields": paths of JSON names, on which lists are passed
	// through. They are absent, as if the server had not sent them. Identity, version,
	// deletionTimestamp, finalizers and ownerReferences cannot be left out. An object
	// without managedFields is safe in an Update, a Patch or an Apply; one that lacks
	// any other field only in a Patch, since an Update would remove the field.
	Drop []string
	// FailOnUndecodable makes an object that cannot be decoded fail its list or
	// watch, as in client-go: the first full state is then never complete. It is for
	// those who delete what they do not find in the sink. Otherwise that object is
	// left out, or stays as it was, and is told as [Undecodable].
	FailOnUndecodable bool
}

// Validate returns [ErrBadOptions] for a field that cannot be left out, or a
// negative bound.
func (d Decoding) Validate() error {
	if d.ShareBytes < 0 {
		return fmt.Errorf("%w: ShareBytes is %d", ErrBadOptions, d.ShareBytes)
	}
	if _, err := fields.Parse(d.Drop...); err != nil {
		return fmt.Errorf("%w: Drop: %w", ErrBadOptions, err)
	}
	return nil
}
