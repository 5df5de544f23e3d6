package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// storage encodes built-in kinds as the kube-apiserver does for etcd.
var storage = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// Stored is an object with its kind set.
type Stored interface {
	runtime.Object
	metav1.Object
}

// Store writes an object directly into etcd, in a tenth of the time of a kube-apiserver, which sees the
// object by its watch of etcd. place is the path of the kind's objects below /registry.
func (c *Cluster) Store(ctx context.Context, place string, object Stored) error {
	value, err := encode(object)
	if err != nil {
		return err
	}
	key := registry + path.Join(place, object.GetNamespace(), object.GetName())
	return c.askEtcd(ctx, "put", map[string]any{"key": []byte(key), "value": value}, nil)
}

// encode encodes an object as the kube-apiserver does for etcd: custom resources as JSON, and built-in
// kinds as protobuf.
func encode(object runtime.Object) ([]byte, error) {
	if scheme.Scheme.Recognizes(object.GetObjectKind().GroupVersionKind()) {
		return runtime.Encode(storage, object)
	}
	return json.Marshal(object)
}

const registry = "/registry/"

// Count returns the number of objects in a place in etcd.
func (c *Cluster) Count(ctx context.Context, place string) (int, error) {
	begin := registry + place + "/"
	end := registry + place + "0" // the character after the slash
	var answer struct {
		Count int `json:",string"`
	}
	err := c.askEtcd(ctx, "range", map[string]any{"key": []byte(begin), "range_end": []byte(end), "count_only": true}, &answer)
	return answer.Count, err
}

// Compact makes etcd discard all revisions before the current one.
func (c *Cluster) Compact(ctx context.Context) error {
	revision, err := c.revision(ctx)
	if err != nil {
		return err
	}
	return c.askEtcd(ctx, "compaction", map[string]any{"revision": revision, "physical": true}, nil)
}

// revision returns etcd's revision, which is the newest resourceVersion.
func (c *Cluster) revision(ctx context.Context) (string, error) {
	var answer struct {
		Header struct{ Revision string }
	}
	err := c.askEtcd(ctx, "range", map[string]any{"key": []byte("/")}, &answer)
	return answer.Header.Revision, err
}

// etcdClient keeps a connection for each of Creators writers. The connections end with etcd.
var etcdClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: Creators}}

// askEtcd calls etcd's JSON gateway.
func (c *Cluster) askEtcd(ctx context.Context, call string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.servers.Etcd+"/v3/kv/"+call, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := etcdClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd %s: %s", call, resp.Status)
	}
	if answer == nil {
		_, err := io.Copy(io.Discard, resp.Body) // otherwise the connection would be closed
		return err
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

// Backup stops etcd, so that all its data is on disk, copies the data, and restarts etcd.
func (c *Cluster) Backup(ctx context.Context) error {
	c.Etcd.Terminate()
	if err := os.CopyFS(c.file("etcd-backup"), os.DirFS(c.servers.DataDir())); err != nil {
		return err
	}
	return c.Etcd.Start(ctx)
}

// Restore replaces the data by the copy made by Backup. The server's history goes back.
func (c *Cluster) Restore(ctx context.Context) error {
	c.Kill()
	if err := os.RemoveAll(c.servers.DataDir()); err != nil {
		return err
	}
	if err := os.Rename(c.file("etcd-backup"), c.servers.DataDir()); err != nil {
		return err
	}
	return c.start(ctx)
}
