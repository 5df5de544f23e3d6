package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

var cronTabsResource = schema.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"}

// createCronTabs creates the resource of examples/crd and waits until the
// server serves it.
func (s *scenario) createCronTabs(client dynamic.Interface) {
	s.t.Helper()
	text, err := os.ReadFile("../../../examples/crd/crontab.yaml")
	s.must(err)
	crd := &unstructured.Unstructured{}
	s.must(yaml.Unmarshal(text, &crd.Object))
	_, err = client.Resource(crdsResource).Create(s.ctx, crd, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the CRD is served", func() error {
		_, err := client.Resource(cronTabsResource).List(s.ctx, metav1.ListOptions{})
		return err
	})
}

// cronTabs are the objects whose events examples/crd prints. Scaling a CronTab changes its schedule.
func (s *scenario) cronTabs(client dynamic.Interface) objects {
	in := func(i int) (dynamic.ResourceInterface, string) {
		return client.Resource(cronTabsResource).Namespace(harness.Namespace(i % teams)), fmt.Sprint("cron-", i)
	}
	return objects{
		create: func(ctx context.Context, i int) error {
			tabs, name := in(i)
			tab := object(cronTabsResource, "CronTab", name)
			tab.Object["spec"] = map[string]any{"schedule": "daily", "image": name + ":v1"}
			_, err := tabs.Create(ctx, tab, metav1.CreateOptions{})
			return err
		},
		scale: func(ctx context.Context, i, times int) error {
			tabs, name := in(i)
			patch := fmt.Sprintf(`{"spec":{"schedule":"hourly-%d"}}`, times)
			_, err := tabs.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		},
		remove: func(ctx context.Context, i int) error {
			tabs, name := in(i)
			return tabs.Delete(ctx, name, metav1.DeleteOptions{})
		},
	}
}

var cronTabLine = regexp.MustCompile(`(typed|dynamic) ([-+~]) (\S+) runs (.+)`)

// cronTabsDiffer returns an error if the events printed by the typed or the dynamic informer's handler
// do not add up to the server's objects.
func (s *scenario) cronTabsDiffer(client dynamic.Interface, program *harness.Process) error {
	text, err := program.Output()
	if err != nil {
		return err
	}
	list, err := client.Resource(cronTabsResource).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	there := map[string]string{}
	for _, one := range list.Items {
		spec, _, _ := unstructured.NestedStringMap(one.Object, "spec")
		there[one.GetNamespace()+"/"+one.GetName()] = spec["image"] + " " + spec["schedule"]
	}
	recorded := map[string]map[string]string{"typed": {}, "dynamic": {}}
	for _, m := range cronTabLine.FindAllStringSubmatch(text, -1) {
		view, sign, name, runs := recorded[m[1]], m[2], m[3], m[4]
		_, known := view[name]
		require.Equal(s.t, sign == "+", !known, "only new objects are added: %s", m[0])
		if view[name] = runs; sign == "-" {
			delete(view, name)
		}
	}
	for api, view := range recorded {
		if !maps.Equal(view, there) {
			return fmt.Errorf("%s: the objects are %v, but the handler has %v", api, there, view)
		}
	}
	return nil
}
