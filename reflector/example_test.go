package reflector_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// The sources of this client do not decode, when they list again, what the
// informers have already.
func ExampleWire() {
	config := &rest.Config{Host: "https://127.0.0.1:6443"} // or that of your cluster
	config.ContentType = runtime.ContentTypeProtobuf
	config.Wrap(reflector.Wire)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	pods := reflector.From(client.CoreV1().Pods(""))
	fmt.Println("streams:", pods.(reflector.Streamer).Streaming() == reflector.StreamingSupported)
	// Output: streams: true
}
