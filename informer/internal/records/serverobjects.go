package records

import (
	"iter"
	"maps"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// ServerObjects holds what the store does not say about the objects of one source, by the server's
// keys. An object has an entry if the transform has changed its key, UID or version, or if the object
// could not be prepared. Any other object is stored under the server's key, and its own metadata has
// its identity. Only one goroutine uses it.
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
type ServerObjects struct {
	entries  map[indexer.Key]serverObject
	servers  map[indexer.Key]indexer.Key // the server's keys of the stored keys that differ from them
	failures int                         // number of entries with a failure
}

// serverObject is an entry. Its identity is that of the stored object, and is valid only for that
// object: a user may have put another one under the key by hand.
type serverObject struct {
	identity  Identity
	stored    any        // nil if the identity was not recorded
	exception *exception // nil if the object is stored under the server's key, and has not failed
}

// exception is what few objects have. It is never changed: two full states may share it.
type exception struct {
	key    indexer.Key // of the stored object
	failed bool
	at     string // the version that failed
}

// Key returns the stored key of a server's key.
func (s *ServerObjects) Key(server indexer.Key) indexer.Key {
	if e := s.entries[server].exception; e != nil {
		return e.key
	}
	return server
}

// Server returns the server's key of a stored key. If the transform has given several objects the
// same key, it is that of the object put last.
func (s *ServerObjects) Server(key indexer.Key) indexer.Key {
	if server, ok := s.servers[key]; ok {
		return server
	}
	return key
}

// Identity returns the server's identity of a stored object. It returns false if none is recorded:
// then the object's own metadata has the identity.
func (s *ServerObjects) Identity(key indexer.Key, stored any) (Identity, bool) {
	e, ok := s.entries[s.Server(key)]
	if !ok || e.stored == nil || !object.Same(e.stored, stored) {
		return Identity{}, false
	}
	return e.identity, true
}

// Failed returns the version at which an object could not be prepared, if that was its last one.
func (s *ServerObjects) Failed(server indexer.Key) (version string, failed bool) {
	if e := s.entries[server].exception; e != nil {
		return e.at, e.failed
	}
	return "", false
}

// Put records that the object of a server's key is stored under a key, and ends its failure.
func (s *ServerObjects) Put(server, key indexer.Key, stored any, id Identity) {
	before, known := s.entries[server]
	s.leave(server, before.exception)
	switch {
	case key != server || IdentityOf(stored) != id:
		s.Set(server, key, stored, id)
	case known:
		delete(s.entries, server)
		fallthrough
	default:
		delete(s.servers, key)
	}
}

// Set is Put that makes an entry in any case. The server's key has none.
func (s *ServerObjects) Set(server, key indexer.Key, stored any, id Identity) {
	e := serverObject{identity: id, stored: stored}
	if key != server {
		e.exception = &exception{key: key}
	}
	s.own(server, key)
	s.store(server, e)
}

// own records that a stored key is that of a server's key.
func (s *ServerObjects) own(server, key indexer.Key) {
	if key == server {
		delete(s.servers, key)
		return
	}
	if s.servers == nil {
		s.servers = make(map[indexer.Key]indexer.Key)
	}
	s.servers[key] = server
}

func (s *ServerObjects) store(server indexer.Key, e serverObject) {
	if s.entries == nil {
		s.entries = make(map[indexer.Key]serverObject)
	}
	s.entries[server] = e
}

// Fail records that the object of a server's key could not be prepared at a version.
func (s *ServerObjects) Fail(server indexer.Key, version string) {
	e := s.entries[server]
	if _, again := s.Failed(server); !again {
		s.failures++
	}
	e.exception = &exception{key: s.Key(server), failed: true, at: version}
	s.store(server, e)
}

// Inherit takes over what an earlier full state says of an object, which stays in the store.
func (s *ServerObjects) Inherit(server indexer.Key, from *ServerObjects) {
	if e, ok := from.entries[server]; ok {
		s.Set(server, from.Key(server), e.stored, e.identity)
	} else {
		s.own(server, server)
	}
}

// All returns the server's keys that have entries.
func (s *ServerObjects) All() iter.Seq[indexer.Key] { return maps.Keys(s.entries) }

// Len returns the number of entries.
func (s *ServerObjects) Len() int { return len(s.entries) }

// Failures returns the number of objects that could not be prepared.
func (s *ServerObjects) Failures() int { return s.failures }

// Knows reports whether an object has an entry.
func (s *ServerObjects) Knows(server indexer.Key) bool {
	_, known := s.entries[server]
	return known
}

// Holds reports whether the object of a server's key has its stored key for itself.
func (s *ServerObjects) Holds(server indexer.Key) bool { return s.Server(s.Key(server)) == server }

// Remove removes what is recorded of a server's key.
func (s *ServerObjects) Remove(server indexer.Key) {
	if e, known := s.entries[server]; known {
		s.leave(server, e.exception)
		delete(s.entries, server)
	}
}

// leave ends the failure of a server's key, and its claim to a stored key.
func (s *ServerObjects) leave(server indexer.Key, e *exception) {
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
