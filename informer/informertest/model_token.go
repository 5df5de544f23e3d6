package informertest

import (
	"encoding/base64"
	"encoding/json"
)

// token is a continue token: the version of the list, and the path of its next object relative to the list's
// namespace. It has the form of a real server's tokens. Clients must not interpret it.
type token struct {
	API string `json:"v"`
	// Version is negative if the list continues at the current state.
	Version int64  `json:"rv"`
	Start   string `json:"start"`
}

const tokenAPI = "meta.k8s.io/v1"

// String encodes the token.
func (t token) String() string {
	t.API = tokenAPI
	text, err := json.Marshal(t)
	if err != nil {
		return "" // cannot happen: the token is a number and two strings
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseToken(s string) (t token, err error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, err
	}
	if t.API != tokenAPI || t.Version == 0 || t.Start == "" {
		return t, errToken
	}
	return t, nil
}
