package informertest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// cursor is a watch: a position in a collection's history, and the selection of the changes that its reader
// gets.
type cursor struct {
	selection
	wantsBookmarks bool
	// pos is the last change read.
	pos *change
	// after is the version after which the watch begins. Earlier changes are skipped. It may be in the
	// future.
	after uint64
	// bookmarksBefore is the number of bookmarks set before the watch began.
	bookmarksBefore uint64
	// pending holds the events to send before the changes.
	pending []watch.Event
	// failed is set if the watch ends after pending, which then holds the error.
	failed bool
}

// watch begins a watch. Like a real server, it accepts any version that it can parse. The stream then reports
// an error.
func (m *model) watch(r schema.GroupVersionResource, namespace string, o internalversion.ListOptions) (*cursor, error) {
	s, err := m.query(r, namespace, &o)
	if err != nil {
		return nil, err
	}
	after, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return nil, errPlain(err.Error())
	}
	c := &cursor{selection: s, wantsBookmarks: o.AllowWatchBookmarks, pos: s.newest, after: after, bookmarksBefore: m.bookmarks}
	stream := value(o.SendInitialEvents)
	switch {
	case stream && after > m.version:
		c.fail(errTooLarge(after, m.version).ErrStatus)
	case stream, after == 0 && o.SendInitialEvents == nil:
		c.replay(m.version, stream)
	case after == 0: // from now on
	case after < max(m.compacted, s.since):
		c.fail(errWatchExpired(after, max(m.compacted, s.since)).ErrStatus)
	default:
		c.pos = s.oldest
	}
	return c, nil
}

// replay makes Added events of the current objects pending.
func (c *cursor) replay(version uint64, stream bool) {
	for _, obj := range c.scan(c.prefix, "", version) {
		if c.matches(obj) {
			c.pending = append(c.pending, watch.Event{Type: watch.Added, Object: obj})
		}
	}
	if stream && c.wantsBookmarks {
		end := c.kind.bookmark(version)
		end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		c.pending = append(c.pending, watch.Event{Type: watch.Bookmark, Object: end})
	}
}

func (c *cursor) fail(status metav1.Status) {
	c.pending, c.failed = []watch.Event{{Type: watch.Error, Object: &status}}, true
}

// read returns the unread events up to now.
func (c *cursor) read() []watch.Event {
	events := c.pending
	c.pending = nil
	for !c.failed && c.pos.next != nil {
		c.pos = c.pos.next
		if e, ok := c.event(c.pos); ok {
			events = append(events, e)
		}
	}
	return events
}

// event returns the event of a change for this watch. With a selector, an object that starts to match is
// added, and an object that no longer matches is deleted.
func (c *cursor) event(ch *change) (watch.Event, bool) {
	switch {
	case ch.version < c.after, ch.version == c.after && ch.bookmark == 0:
		return watch.Event{}, false
	case ch.bookmark > 0:
		wanted := c.wantsBookmarks && ch.bookmark > c.bookmarksBefore
		return watch.Event{Type: watch.Bookmark, Object: c.kind.bookmark(ch.version)}, wanted
	case !strings.HasPrefix(ch.path, c.prefix):
		return watch.Event{}, false
	}
	was := ch.old != nil && c.matches(ch.old)
	is := ch.new != nil && c.matches(ch.new)
	switch {
	case is && was:
		return watch.Event{Type: watch.Modified, Object: ch.new}, true
	case is:
		return watch.Event{Type: watch.Added, Object: ch.new}, true
	case was:
		// The last state that matched, with the version of the change.
		return watch.Event{Type: watch.Deleted, Object: deletedAt(ch.old, ch.version)}, true
	}
	return watch.Event{}, false
}
