package reflector

// Decoding configures how objects are decoded. All fields except Drop apply to sources whose answers
// the reflector decodes itself, see [FromGenerated] and [Wire]. The zero value shares equal values,
// keeps all fields, and leaves an undecodable object out alone.
type Decoding struct {
	// Unshared gives every object its own values. Otherwise equal strings, and equal nested
	// values of objects of one kind, are stored once; a program that writes into a cached object,
	// which is forbidden, then changes others as well. The values that programs most often write
	// into are never shared: labels, annotations, finalizers, owner references, the data of
	// ConfigMaps and Secrets, node selectors.
	Unshared bool
	// Drop names fields to be left out of all objects, such as
	// "metadata.managedFields": paths of JSON names, on which lists are passed
	// through. The keys of maps are names, too, as in "data.token"; a name with a dot
	// cannot be written. A type that decodes itself gets its JSON without the
	// fields. They are absent, as if the server had not sent them. Identity, version,
	// deletionTimestamp, finalizers and ownerReferences cannot be left out. An object
	// without managedFields is safe in an Update, a Patch or an Apply; one that lacks
	// any other field only in a Patch, since an Update would remove the field.
	Drop []string
	// FailOnUndecodable makes an undecodable object fail its list or watch, as in client-go: the
	// first full state is then never complete. It is for programs that delete everything they do
	// not find in the sink. Otherwise the object is left out, or stays as it was, and
	// [Undecodable] reports it.
	FailOnUndecodable bool
}
