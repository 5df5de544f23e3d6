package fields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetTellsWhatIsLeftOut(t *testing.T) {
	s, err := Parse("metadata.managedFields", "spec.containers.env", "status", "status.phase", "spec.containers")
	require.NoError(t, err)
	metadata, leftOut := s.Of("metadata")
	assert.False(t, leftOut)
	_, leftOut = metadata.Of("managedFields")
	assert.True(t, leftOut)
	_, leftOut = metadata.Of("labels")
	assert.False(t, leftOut)
	_, leftOut = s.Of("status")
	assert.True(t, leftOut, "what lies below is left out with it")
	spec, _ := s.Of("spec")
	_, leftOut = spec.Of("containers")
	assert.True(t, leftOut, "the longer path came first")
}

func TestNothingIsLeftOutUnlessAsked(t *testing.T) {
	s, err := Parse()
	require.NoError(t, err)
	below, leftOut := s.Of("metadata")
	assert.Nil(t, below)
	assert.False(t, leftOut)
}

func TestNeededFieldsAreRefused(t *testing.T) {
	for _, path := range []string{"", "a..b", "metadata", "metadata.uid", "metadata.finalizers", "metadata.ownerReferences.name", "kind"} {
		_, err := Parse(path)
		assert.ErrorIs(t, err, ErrRefused, path)
	}
}

func TestWrittenFields(t *testing.T) {
	for name, written := range map[string]bool{"data": true, "stringData": true, "binaryData": true, "nodeSelector": true, "spec": false} {
		assert.Equal(t, written, Written(name), name)
	}
}
