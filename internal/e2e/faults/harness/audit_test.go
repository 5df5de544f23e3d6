package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuditCountsRequestsOnce(t *testing.T) {
	const log = `{"auditID":"1","stage":"ResponseStarted","verb":"watch","requestURI":"/api/v1/pods?watch=true&resourceVersion=7","userAgent":"me","responseStatus":{"code":200}}
{"auditID":"1","stage":"ResponseComplete","verb":"watch","requestURI":"/api/v1/pods?watch=true&resourceVersion=7","userAgent":"me","responseStatus":{"code":200}}
{"auditID":"2","stage":"ResponseComplete","verb":"list","requestURI":"/api/v1/pods","userAgent":"somebody else","responseStatus":{"code":200}}
{"auditID":"3","stage":"ResponseComplete","verb":"list","requestURI":"/api/v1/pods","userAgent":"me","responseStatus":{"code":403}}
{"auditID":"4","stage":"Resp`
	got, err := readAudit([]byte(log), "me")
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, "watch", got[0].Verb)
	require.Equal(t, "7", got[0].Query.Get("resourceVersion"))
	require.Equal(t, 403, got[1].Code)

	_, err = readAudit([]byte("not JSON\n"), "me")
	require.Error(t, err)
}
