package reflector

// Decoding configures how objects are decoded. All fields except Drop apply only to sources whose
// answers the reflector decodes itself, see [FromGenerated] and [Wire]. The zero value shares equal
// values, keeps all fields, and leaves out only objects that cannot be decoded.
type Decoding struct {
	// Unshared gives every object its own values. By default, equal strings and equal nested values
	// of objects of one kind are stored once. A program must not write into a cached object: with
	// shared values, it would change other objects too. The values that programs most often write
	// into are never shared: labels, annotations, finalizers, owner references, the data of
	// ConfigMaps and Secrets, and node selectors.
	Unshared bool
	// Drop lists fields to leave out of all objects, such as "metadata.managedFields". A field is a
	// path of JSON names that skips lists. Map keys are names too, as in "data.token". A name
	// cannot contain a dot. Dropped fields are absent, as if the server had not sent them. A type
	// that decodes itself gets its JSON without them. You cannot drop the identity, the version,
	// deletionTimestamp, finalizers or ownerReferences.
	//
	// An object without managedFields is safe in an Update, a Patch or an Apply. An object that
	// lacks any other field is safe only in a Patch, because an Update would remove the field.
	Drop []string
	// FailOnUndecodable makes an undecodable object fail its list or watch, as in client-go. The
	// first full state is then never complete. Set it for programs that delete everything that the
	// sink does not have. By default, the sink leaves the object out or keeps its earlier state,
	// and [Undecodable] reports it.
	FailOnUndecodable bool
}
