package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A row of the table without a kind would be a typing error.
func TestTraitsBelongToBuiltinKinds(t *testing.T) {
	known := map[string]bool{}
	for _, k := range builtinKinds() {
		known[k.GVR.Resource], known[k.GVR.GroupResource().String()] = true, true
	}
	for resource := range builtinTraits {
		assert.True(t, known[resource], resource)
	}
}

// A secret that a test writes is stored like a client's.
func TestSecretOfATestKeepsNoText(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}, StringData: map[string]string{"k": "v"}}
	assert.NoError(t, s.Create(t.Context(), secret))
	assert.Equal(t, map[string][]byte{"k": []byte("v")}, secret.Data)
	assert.Empty(t, secret.StringData)
}

// A test can update objects of every kind without a version, as [Server.Update] says.
func TestUpdateOfATestNeedsNoVersion(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	assert.NoError(t, s.Register(cronKind))
	assert.NoError(t, s.Create(t.Context(), newCron("a", "c", "daily")))
	assert.NoError(t, s.Update(t.Context(), newCron("a", "c", "hourly")))
}
