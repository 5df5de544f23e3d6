package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// serverObjects holds what the store does not say about the objects of one source, by the server's
// keys. An object has an entry if the transform has changed its key, UID or version, or if the object
// could not be prepared. Any other object is stored under the server's key, and its own metadata has
// its identity. Only the processLoop uses it.
//
// Each entry is in one of four states:
//
//	              put, as the server sent it   put, changed   fail          remove
//	no entry      no entry                     changed        failed        no entry
//	changed       no entry                     changed        both          no entry
//	failed        no entry                     changed        failed        no entry
//	both          no entry                     changed        both          no entry
//
// "Both" is an object that the store has as changed by the transform, in a version before the failed one.
type serverObjects struct {
	entries  map[indexer.Key]serverObject
	servers  map[indexer.Key]indexer.Key // the server's keys of the stored keys that differ from them
	failures int                         // number of entries with a failure
}

// serverObject is an entry. Its identity is that of the stored object, and is valid only for that
// object: a user may have put another one under the key by hand.
type serverObject struct {
	identity  identity
	stored    any        // nil if the identity was not recorded
	exception *exception // nil if the object is stored under the server's key, and has not failed
}

// exception is what few objects have. It is never changed: two full states may share it.
type exception struct {
	key    indexer.Key // of the stored object
	failed bool
	at     string // the version that failed
}

// key returns the stored key of a server's key.
func (s *serverObjects) key(server indexer.Key) indexer.Key {
	if e := s.entries[server].exception; e != nil {
		return e.key
	}
	return server
}

// server returns the server's key of a stored key. If the transform has given several objects the
// same key, it is that of the object put last.
func (s *serverObjects) server(key indexer.Key) indexer.Key {
	if server, ok := s.servers[key]; ok {
		return server
	}
	return key
}

// identity returns the server's identity of a stored object. It returns false if none is recorded:
// then the object's own metadata has the identity.
func (s *serverObjects) identity(key indexer.Key, stored any) (identity, bool) {
	e, ok := s.entries[s.server(key)]
	if !ok || e.stored == nil || !object.Same(e.stored, stored) {
		return identity{}, false
	}
	return e.identity, true
}

// failed returns the version at which an object could not be prepared, if that was its last one.
func (s *serverObjects) failed(server indexer.Key) (version string, failed bool) {
	if e := s.entries[server].exception; e != nil {
		return e.at, e.failed
	}
	return "", false
}

// put records that the object of a server's key is stored under a key, and ends its failure.
func (s *serverObjects) put(server, key indexer.Key, stored any, id identity) {
	before, known := s.entries[server]
	s.leave(server, before.exception)
	switch {
	case key != server || identityOf(stored) != id:
		s.set(server, key, stored, id)
	case known:
		delete(s.entries, server)
		fallthrough
	default:
		delete(s.servers, key)
	}
}

// set is put that makes an entry in any case. The server's key has none.
func (s *serverObjects) set(server, key indexer.Key, stored any, id identity) {
	e := serverObject{identity: id, stored: stored}
	if key != server {
		e.exception = &exception{key: key}
	}
	s.own(server, key)
	s.store(server, e)
}

// own records that a stored key is that of a server's key.
func (s *serverObjects) own(server, key indexer.Key) {
	if key == server {
		delete(s.servers, key)
		return
	}
	if s.servers == nil {
		s.servers = make(map[indexer.Key]indexer.Key)
	}
	s.servers[key] = server
}

func (s *serverObjects) store(server indexer.Key, e serverObject) {
	if s.entries == nil {
		s.entries = make(map[indexer.Key]serverObject)
	}
	s.entries[server] = e
}

// fail records that the object of a server's key could not be prepared at a version.
func (s *serverObjects) fail(server indexer.Key, version string) {
	e := s.entries[server]
	if _, again := s.failed(server); !again {
		s.failures++
	}
	e.exception = &exception{key: s.key(server), failed: true, at: version}
	s.store(server, e)
}

// inherit takes over what an earlier full state says of an object, which stays in the store.
func (s *serverObjects) inherit(server indexer.Key, from *serverObjects) {
	if e, ok := from.entries[server]; ok {
		s.set(server, from.key(server), e.stored, e.identity)
	} else {
		s.own(server, server)
	}
}

// knows reports whether an object has an entry.
func (s *serverObjects) knows(server indexer.Key) bool {
	_, known := s.entries[server]
	return known
}

// holds reports whether the object of a server's key has its stored key for itself.
func (s *serverObjects) holds(server indexer.Key) bool { return s.server(s.key(server)) == server }

// remove removes what is recorded of a server's key.
func (s *serverObjects) remove(server indexer.Key) {
	if e, known := s.entries[server]; known {
		s.leave(server, e.exception)
		delete(s.entries, server)
	}
}

// leave ends the failure of a server's key, and its claim to a stored key.
func (s *serverObjects) leave(server indexer.Key, e *exception) {
	if e == nil {
		return
	}
	if e.failed {
		s.failures--
	}
	if s.servers[e.key] == server {
		delete(s.servers, e.key)
	}
}
