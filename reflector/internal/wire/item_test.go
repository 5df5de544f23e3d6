package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first bytes of an answer show its encoding. JSON may begin with blanks. client-go cannot
// decode a page of HTML either.
func TestAnAnswersFirstBytes(t *testing.T) {
	for _, test := range []struct {
		body         string
		list, events error
	}{
		{"{}", nil, nil},
		{" \r\n\t{}", nil, nil},
		{"<!doctype html>", ErrBadAnswer, ErrBadAnswer},
		{"<html>", ErrBadAnswer, ErrBadAnswer},
		{"\xd9\xd9\xf7\xa1", ErrForeign, ErrForeign}, // CBOR
		{"k8s\x00", nil, ErrForeign},
		{"\x00\x00\x00\x01x", ErrForeign, nil}, // a frame
	} {
		_, err := newListItems(strings.NewReader(test.body))
		require.ErrorIs(t, err, test.list, "a list: %q", test.body)
		in, err := newEventItems(strings.NewReader(test.body))
		require.ErrorIs(t, err, test.events, "events: %q", test.body)
		if _, isJSON := in.(jsonEvents); err == nil {
			require.Equal(t, test.body[0] != 0, isJSON, "%q", test.body)
		}
	}
}
