package reflector

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// Two spellings of a server's address are one server, as for http.Transport.
func TestOneServerInManySpellings(t *testing.T) {
	of := func(url string) origin {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/pods", nil)
		require.NoError(t, err)
		return originOf(ownwrites.Target{}, r)
	}
	for _, same := range [][]string{
		{"http://api.example.com", "http://API.example.com", "http://api.example.com:80", "HTTP://API.Example.Com:80", "http://api.example.com:"},
		{"https://api.example.com", "https://api.EXAMPLE.com:443"},
		{"http://api.example.com:443", "http://API.example.com:443"},
		{"https://api.example.com:80"},
		{"http://api.example.org"},
		{"http://[fe80::80]", "http://[FE80::80]:80"},
		{"http://[fe80::]:8080"},
	} {
		for _, url := range same {
			require.Equal(t, of(same[0]), of(url), url)
			for _, other := range []string{"http://example.com", "http://api.example.com:8080", "https://api.example.com:8443"} {
				require.NotEqual(t, of(other), of(url))
			}
		}
	}
	require.NotEqual(t, of("http://api.example.com"), of("https://api.example.com"))
	require.NotEqual(t, of("http://api.example.com:443"), of("https://api.example.com"))
	require.NotEqual(t, of("https://api.example.com:80"), of("http://api.example.com"))
}
