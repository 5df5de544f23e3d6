package launch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names of the servers' programs.
const (
	EtcdName      = "etcd"
	APIServerName = "kube-apiserver"
)

// User is the name of an ordinary user, who has only the rights that tests grant.
const User = "e2e-user"

// Servers are an etcd and a kube-apiserver that share a folder.
type Servers struct {
	APIServer string `json:"apiserver"` // https://127.0.0.1:PORT
	Etcd      string `json:"etcd"`      // http://127.0.0.1:PORT
	Token     string `json:"token"`     // the token of a user in system:masters
	UserToken string `json:"userToken"` // the token of [User]

	Dir string `json:"-"`

	peer string // the URL of etcd for other etcd members
	port string // the kube-apiserver's port
}

// New chooses ports and tokens, and writes the servers' input files to an existing folder.
func New(dir string) (*Servers, error) {
	ports, err := FreePorts(3)
	if err != nil {
		return nil, err
	}
	key, err := signingKey()
	if err != nil {
		return nil, err
	}
	s := &Servers{
		APIServer: fmt.Sprintf("https://127.0.0.1:%d", ports[0]),
		Etcd:      fmt.Sprintf("http://127.0.0.1:%d", ports[1]),
		Token:     rand.Text(),
		UserToken: rand.Text(),
		Dir:       dir,
		peer:      fmt.Sprintf("http://127.0.0.1:%d", ports[2]),
		port:      strconv.Itoa(ports[0]),
	}
	tokens := fmt.Sprintf("%s,e2e-admin,e2e-admin,\"system:masters\"\n%s,%s,%s\n", s.Token, s.UserToken, User, User)
	return s, errors.Join(
		os.WriteFile(s.File("sa.key"), key, 0o600),
		os.WriteFile(s.File("tokens.csv"), []byte(tokens), 0o600),
	)
}

// File returns the path of a file in the servers' folder.
func (s *Servers) File(name string) string { return filepath.Join(s.Dir, name) }

// DataDir returns the folder with etcd's data.
func (s *Servers) DataDir() string { return s.File("etcd-data") }

// Authority returns the file with which clients verify the kube-apiserver: its certificate for 127.0.0.1
// and the issuer's. The kube-apiserver writes the file.
func (s *Servers) Authority() string { return filepath.Join(s.File("certs"), "apiserver.crt") }

// Address returns the host and port in a server's URL.
func Address(url string) string {
	_, address, _ := strings.Cut(url, "://")
	return address
}

// Kubeconfig returns the administrator's kubeconfig for a URL.
func (s *Servers) Kubeconfig(url string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: e2e
clusters:
- name: e2e
  cluster:
    server: %s
    certificate-authority: %q
users:
- name: e2e-admin
  user:
    token: %s
contexts:
- name: e2e
  context:
    cluster: e2e
    user: e2e-admin
`, url, s.Authority(), s.Token)
}

// signingKey returns the key with which the kube-apiserver signs service account tokens.
func signingKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
