package wire

import (
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// longestStatus limits the size of a status that is sent instead of a list.
const longestStatus = 4 << 10

var statusMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}

// beginning reads a body and keeps its first bytes, because it may be a status instead of a list.
type beginning struct {
	body io.Reader
	text []byte
}

func (b *beginning) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if len(b.text) < longestStatus {
		b.text = append(b.text, p[:min(n, longestStatus-len(b.text))]...)
	}
	return n, err
}

// failure returns the error that the status reports, or nil.
func (b *beginning) failure() error {
	it := item{format: formatJSON, data: b.text}
	if envelope, ok := cutMagic(b.text); ok {
		it.format = formatProtobuf
		it.data, _ = field(envelope, unknownRaw)
	}
	s := &metav1.Status{}
	if it.unmarshal(s) != nil || s.Status == metav1.StatusSuccess {
		return nil //nolint:nilerr // bytes that are not a status do not report an error
	}
	return apierrors.FromObject(s)
}
