package reflector

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
)

// A text with code 200, such as a proxy's page, fails its own request. The reflector decodes all further answers
// itself, and sets aside the object that it cannot decode (D30).
func TestTextInPlaceOfAnAnswer(t *testing.T) {
	for _, name := range []string{"generated", "dynamic", "metadata"} {
		for _, contentType := range []string{"text/plain", "application/json"} {
			t.Run(name+", "+contentType, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					text := func(w http.ResponseWriter) {
						w.Header().Set("Content-Type", contentType)
						_, _ = io.WriteString(w, "upstream unavailable\n")
					}
					server := onePod()
					list, watch := server.list, server.watch
					server.list = func(n int, w http.ResponseWriter, r *http.Request) {
						if n == 0 {
							text(w)
							return
						}
						list(n, w, r)
					}
					server.watch = func(n int, w http.ResponseWriter, r *http.Request) {
						if n == 0 {
							text(w)
							return
						}
						_, _ = io.WriteString(w, podEvent("ADDED", `{"metadata":{"namespace":"ns","name":"b","uid":"u","resourceVersion":"5","labels":1}}`))
						watch(n, w, r)
					}
					client := clients[name]
					f := follow(t, neverStreaming(client.source(t, server.servePiped(t, false))), client.object, Options{})
					f.until(func() bool { return f.stored[keyOf("a")] == "6" })
					failed, paged := eventsOf[Failed](f), eventsOf[Paged](f)
					require.Len(t, failed, 2)
					for _, e := range failed {
						require.True(t, e.Class == ErrorDecode || contentType == "text/plain" && name != "generated", e.Err)
					}
					require.NotZero(t, paged[len(paged)-1].Bytes, "decoded by the client")
					if name != "dynamic" { // which knows no type of labels
						require.Len(t, eventsOf[Undecodable](f), 1)
					}
				})
			})
		}
	}
}

// A client that may speak CBOR asks for JSON where the reflector decodes the answers.
func TestNoCBORIsAskedFor(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	for _, contentType := range []string{"", "application/json", "application/cbor"} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := onePod()
				list := server.list
				server.list = func(n int, w http.ResponseWriter, r *http.Request) {
					require.Equal(t, "application/json", r.Header.Get("Accept"))
					list(n, w, r)
				}
				config := server.servePiped(t, false)
				config.ContentType = contentType
				f := follow(t, neverStreaming(clients["generated"].source(t, config)), typeOfPod, Options{})
				f.until(func() bool { return f.stored[keyOf("a")] == "6" })
				require.Empty(t, eventsOf[Failed](f))
			})
		})
	}
}

// A text of fewer than four bytes in place of a list is a text, and no broken connection.
func TestAShortTextInPlaceOfAList(t *testing.T) {
	for _, name := range []string{"generated", "dynamic", "metadata"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := onePod()
				list := server.list
				server.list = func(n int, w http.ResponseWriter, r *http.Request) {
					if n == 0 {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, "OK\n")
						return
					}
					list(n, w, r)
				}
				f := follow(t, neverStreaming(clients[name].source(t, server.servePiped(t, false))), clients[name].object, Options{})
				f.until(func() bool { return f.stored[keyOf("a")] == "6" })
				f.mu.Lock()
				defer f.mu.Unlock()
				failed := eventsOf[Failed](f)
				require.Len(t, failed, 1)
				require.Equal(t, ErrorDecode, failed[0].Class, failed[0].Err)
			})
		})
	}
}
