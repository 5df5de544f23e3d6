package cluster

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// typed returns the TypeMeta of a kind of the core group.
func typed(kind string) metav1.TypeMeta { return of(corev1.SchemeGroupVersion, kind) }

func of(gv schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: gv.String(), Kind: kind}
}

func configMap(c chance, m metav1.ObjectMeta, _ int) Object {
	data := map[string]string{}
	for range c.between(1, 3) {
		var text strings.Builder
		for range c.between(5, 30) {
			fmt.Fprintf(&text, "%s.%s: %s\n", pick(c, domains), strings.ToLower(pick(c, settings)), c.value(""))
		}
		data[pick(c, parts)+".yaml"] = text.String()
	}
	return &corev1.ConfigMap{TypeMeta: typed("ConfigMap"), ObjectMeta: m, Data: data}
}

func secret(c chance, m metav1.ObjectMeta, _ int) Object {
	data := map[string][]byte{}
	for _, name := range some(c, c.between(1, 6), secretNames) {
		data[name] = []byte(c.hex(c.between(16, 400)))
	}
	return &corev1.Secret{TypeMeta: typed("Secret"), ObjectMeta: m, Type: corev1.SecretTypeOpaque, Data: data}
}

// service returns a headless service, because the kube-apiserver manages the addresses of other
// services.
func service(c chance, m metav1.ObjectMeta, _ int) Object {
	return &corev1.Service{TypeMeta: typed("Service"), ObjectMeta: m, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, ClusterIPs: []string{corev1.ClusterIPNone},
		IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
		InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicyCluster), SessionAffinity: corev1.ServiceAffinityNone,
		Selector: map[string]string{"app": m.Name},
		Ports:    []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt(c.between(3000, 9000))}},
	}}
}

func endpointSlice(c chance, m metav1.ObjectMeta, _ int) Object {
	m.Labels[discoveryv1.LabelServiceName], m.Labels[discoveryv1.LabelManagedBy] = m.Name, "endpointslice-controller.k8s.io"
	slice := &discoveryv1.EndpointSlice{
		TypeMeta: of(discoveryv1.SchemeGroupVersion, "EndpointSlice"), ObjectMeta: m, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
	}
	for range c.few(1, 30) {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{fmt.Sprintf("10.%d.%d.%d", 64+c.IntN(64), c.IntN(256), c.between(1, 254))},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(true), Terminating: new(false)},
			NodeName:   new(nodeName(c.IntN(nodes))), Zone: new("eu-central-1" + c.text("abc", 1)),
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: m.Namespace, Name: m.Name + "-" + c.text(safe, 5), UID: c.uid()},
		})
	}
	return slice
}

func event(c chance, m metav1.ObjectMeta, _ int) Object {
	reason := pick(c, []string{"Scheduled", "Pulled", "Created", "Started", "Killing", "BackOff", "Unhealthy"})
	pod := m.Name + "-" + c.text(safe, 5)
	m.Name, m.Labels, m.Annotations = pod+"."+c.hex(16), nil, nil
	return &corev1.Event{
		TypeMeta: typed("Event"), ObjectMeta: m, Reason: reason, Type: corev1.EventTypeNormal, Count: int32(c.few(1, 200)),
		Message:        fmt.Sprintf("%s of container in pod %s on %s", reason, pod, nodeName(c.IntN(nodes))),
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: m.Namespace, Name: pod, UID: c.uid(), ResourceVersion: fmt.Sprint(c.IntN(1 << 30))},
		Source:         corev1.EventSource{Component: "kubelet", Host: nodeName(c.IntN(nodes))},
		FirstTimestamp: m.CreationTimestamp, LastTimestamp: after(m.CreationTimestamp, c.IntN(3600)), ReportingController: "kubelet",
	}
}

func serviceAccount(_ chance, m metav1.ObjectMeta, _ int) Object {
	return &corev1.ServiceAccount{TypeMeta: typed("ServiceAccount"), ObjectMeta: m, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}}
}

func claim(c chance, m metav1.ObjectMeta, _ int) Object {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(pick(c, sizes))}
	return &corev1.PersistentVolumeClaim{
		TypeMeta: typed("PersistentVolumeClaim"), ObjectMeta: m,
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: size},
			StorageClassName: new(pick(c, classes)), VolumeName: "pvc-" + string(c.uid()), VolumeMode: new(corev1.PersistentVolumeFilesystem),
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Phase: corev1.ClaimBound, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: size.DeepCopy(),
		},
	}
}

func lease(c chance, m metav1.ObjectMeta, i int) Object {
	m.Namespace, m.Name = corev1.NamespaceNodeLease, nodeName(i)
	return &coordinationv1.Lease{TypeMeta: of(coordinationv1.SchemeGroupVersion, "Lease"), ObjectMeta: m, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(m.Name), LeaseDurationSeconds: new(int32(40)), RenewTime: &metav1.MicroTime{Time: c.day(300).Time},
	}}
}

func node(c chance, m metav1.ObjectMeta, i int) Object {
	m.Namespace, m.Name = "", nodeName(i)
	m.Labels = map[string]string{
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": m.Name, "node.example.com/pool": pick(c, tiers),
		"topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": "eu-central-1" + c.text("abc", 1),
	}
	amount := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: *resource.NewQuantity(int64(c.between(120, 130))<<30, resource.BinarySI),
		corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("200Gi"),
	}
	n := &corev1.Node{
		TypeMeta: typed("Node"), ObjectMeta: m,
		Spec: corev1.NodeSpec{PodCIDR: fmt.Sprintf("10.%d.%d.0/24", 64+c.IntN(64), c.IntN(256)), ProviderID: "aws:///eu-central-1a/i-" + c.hex(17)},
		Status: corev1.NodeStatus{
			Capacity: amount, Allocatable: amount.DeepCopy(),
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: hostIP(m.Name)}, {Type: corev1.NodeHostName, Address: m.Name}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: c.hex(32), SystemUUID: string(c.uid()), BootID: string(c.uid()), KernelVersion: "6.12.41-cloud", OSImage: "Debian GNU/Linux 13",
				ContainerRuntimeVersion: "containerd://2.1.4", KubeletVersion: "v1.37.1", OperatingSystem: "linux", Architecture: "amd64",
			},
		},
	}
	for _, of := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: of, Status: corev1.ConditionFalse, Reason: "Kubelet" + string(of), Message: "kubelet has said so", LastHeartbeatTime: c.day(300), LastTransitionTime: m.CreationTimestamp,
		})
	}
	for range c.between(20, 50) {
		image := c.image(pick(c, divisions), pick(c, domains)+"-"+pick(c, parts))
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{image, imageID(image)}, SizeBytes: int64(c.IntN(1 << 30))})
	}
	return n
}
