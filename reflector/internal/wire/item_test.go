package wire

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The first bytes of an answer show its encoding. JSON may begin with whitespace. A text fails the
// request, and the error quotes it.
func TestAnAnswersFirstBytes(t *testing.T) {
	for _, test := range []struct {
		body         string
		list, events error
	}{
		{"{}", nil, nil},
		{" \r\n\t{}", nil, nil},
		{"<!doctype html>", ErrBadAnswer, ErrBadAnswer},
		{"<html>", ErrBadAnswer, ErrBadAnswer},
		{"upstream", ErrBadAnswer, ErrBadAnswer},
		{"\xd9\xd9\xf7\xa1", ErrBadAnswer, ErrBadAnswer}, // CBOR
		{"k8s\x00", nil, ErrBadAnswer},
		{"\x00\x00\x00\x01x", ErrBadAnswer, nil}, // a frame
	} {
		_, err := newListItems(strings.NewReader(test.body))
		require.ErrorIs(t, err, test.list, "a list: %q", test.body)
		if err != nil {
			require.ErrorContains(t, err, strconv.Quote(test.body))
		}
		in, err := newEventItems(strings.NewReader(test.body))
		require.ErrorIs(t, err, test.events, "events: %q", test.body)
		if _, isJSON := in.(jsonEvents); err == nil {
			require.Equal(t, test.body[0] != 0, isJSON, "%q", test.body)
		}
	}
}

// If a bookmark has annotations twice, an unstructured object has the last ones, and a typed object has
// all of them.
func TestABookmarksLastAnnotationsCount(t *testing.T) {
	twice := item{format: formatJSON, data: []byte(`{"metadata":{"annotations":{"a":"1"},"annotations":{"b":"2"},"resourceVersion":"7"}}`)}
	for _, test := range []struct {
		of   reflect.Type
		want map[string]string
	}{
		{Unstructured, map[string]string{"b": "2"}},
		{reflect.TypeFor[*corev1.Pod](), map[string]string{"a": "1", "b": "2"}},
	} {
		b, err := NewDecoder(Objects{Type: test.of}, Sharing{}, nil).bookmark(twice)
		require.NoError(t, err)
		require.Equal(t, test.want, object.Meta(b).GetAnnotations(), "%v", test.of)
		require.Equal(t, "7", object.Meta(b).GetResourceVersion())
	}
}
