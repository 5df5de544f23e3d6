package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// storage is how the kube-apiserver writes built-in kinds into etcd.
var storage = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// StorePod writes a pod that is there already into etcd, past the kube-apiserver,
// which hears of it from there: it takes a tenth of the time.
func (c *Cluster) StorePod(ctx context.Context, pod *corev1.Pod) error {
	stored := *pod
	stored.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	stored.ResourceVersion = "" // etcd's own
	value, err := runtime.Encode(storage, &stored)
	if err != nil {
		return err
	}
	key := []byte("/registry/pods/" + pod.Namespace + "/" + pod.Name)
	return c.askEtcd(ctx, "put", map[string]any{"key": key, "value": value}, nil)
}

// Compact forgets all that was before the present revision, in etcd.
func (c *Cluster) Compact(ctx context.Context) error {
	revision, err := c.revision(ctx)
	if err != nil {
		return err
	}
	return c.askEtcd(ctx, "compaction", map[string]any{"revision": revision, "physical": true}, nil)
}

// revision is etcd's, which is the newest resourceVersion.
func (c *Cluster) revision(ctx context.Context) (string, error) {
	var answer struct {
		Header struct{ Revision string }
	}
	err := c.askEtcd(ctx, "range", map[string]any{"key": []byte("/")}, &answer)
	return answer.Header.Revision, err
}

// etcdClient keeps as many connections as write at a time. They end with etcd.
var etcdClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: Creators}}

// askEtcd speaks to etcd's gateway for JSON.
func (c *Cluster) askEtcd(ctx context.Context, call string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.etcdAddress+"/v3/kv/"+call, bytes.NewReader(body))
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
		_, err := io.Copy(io.Discard, resp.Body) // or the connection is closed
		return err
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

// Backup restarts etcd, so that all is on disk, and copies its data.
func (c *Cluster) Backup(ctx context.Context) error {
	c.Etcd.Terminate()
	if err := os.CopyFS(c.file("etcd-backup"), os.DirFS(c.dataDir())); err != nil {
		return err
	}
	return c.Etcd.Start(ctx)
}

// Restore puts back what Backup copied: the history of the server goes back.
func (c *Cluster) Restore(ctx context.Context) error {
	c.Kill()
	if err := os.RemoveAll(c.dataDir()); err != nil {
		return err
	}
	if err := os.Rename(c.file("etcd-backup"), c.dataDir()); err != nil {
		return err
	}
	return c.start(ctx)
}
