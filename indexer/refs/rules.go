package refs

import (
	"path"
	"reflect"
	"strings"
)

// A rule says that a field names an object. The field holds the name, or structs whose field "name" does.
type rule struct {
	field string // the group of k8s.io/api, the type in any of its versions, and the field in JSON
	kind  string // Kind or Kind.group; a struct with a field "kind" that names another one does not count
	// namespace says where the object is. It is one of the constants, or the field that says so: an empty
	// one means a cluster-scoped kind, and one that is not set, if it can be, the namespace of the object
	// that refers.
	namespace string
}

const (
	local   = ""  // in the namespace of the object that refers
	cluster = "-" // in none
	// written is the kind of a reference that says its kind itself, in "kind" and "apiGroup" or "apiVersion".
	written = ""
)

// rules are all fields of k8s.io/api that name an object. A field with a rule has no others in it: so a rule
// for a field goes before those for its type.
var rules = []rule{
	// References that say where they are by their type alone.
	{"core.ObjectReference.name", written, "namespace"},
	{"core.TypedLocalObjectReference.name", written, local},
	{"core.TypedObjectReference.name", written, "namespace"},
	{"core.SecretReference.name", "Secret", "namespace"},
	{"autoscaling.CrossVersionObjectReference.name", written, local},
	{"scheduling.TypedLocalObjectReference.name", written, local},
	{"authentication.BoundObjectReference.name", written, local},
	{"admissionregistration.ServiceReference.name", "Service", "namespace"},

	// Pods.
	{"core.PodSpec.nodeName", "Node", cluster},
	{"core.PodSpec.serviceAccountName", "ServiceAccount", local},
	{"core.PodSpec.priorityClassName", "PriorityClass.scheduling.k8s.io", cluster},
	{"core.PodSpec.runtimeClassName", "RuntimeClass.node.k8s.io", cluster},
	{"core.PodSpec.imagePullSecrets", "Secret", local},
	{"core.PodResourceClaim.resourceClaimName", "ResourceClaim.resource.k8s.io", local},
	{"core.PodResourceClaim.resourceClaimTemplateName", "ResourceClaimTemplate.resource.k8s.io", local},
	{"core.PodSchedulingGroup.podGroupName", "PodGroup.scheduling.k8s.io", local},
	{"core.SecretKeySelector.name", "Secret", local},
	{"core.ConfigMapKeySelector.name", "ConfigMap", local},
	{"core.SecretEnvSource.name", "Secret", local},
	{"core.ConfigMapEnvSource.name", "ConfigMap", local},

	// Volumes of pods.
	{"core.SecretVolumeSource.secretName", "Secret", local},
	{"core.ConfigMapVolumeSource.name", "ConfigMap", local},
	{"core.SecretProjection.name", "Secret", local},
	{"core.ConfigMapProjection.name", "ConfigMap", local},
	{"core.ClusterTrustBundleProjection.name", "ClusterTrustBundle.certificates.k8s.io", cluster},
	{"core.PersistentVolumeClaimVolumeSource.claimName", "PersistentVolumeClaim", local},
	{"core.AzureFileVolumeSource.secretName", "Secret", local},
	{"core.CSIVolumeSource.nodePublishSecretRef", "Secret", local},
	{"core.CephFSVolumeSource.secretRef", "Secret", local},
	{"core.CinderVolumeSource.secretRef", "Secret", local},
	{"core.FlexVolumeSource.secretRef", "Secret", local},
	{"core.ISCSIVolumeSource.secretRef", "Secret", local},
	{"core.RBDVolumeSource.secretRef", "Secret", local},
	{"core.ScaleIOVolumeSource.secretRef", "Secret", local},
	{"core.StorageOSVolumeSource.secretRef", "Secret", local},
	{"core.GlusterfsVolumeSource.endpoints", "Endpoints", local},

	// Storage.
	{"core.PersistentVolumeClaimSpec.volumeName", "PersistentVolume", cluster},
	{"core.PersistentVolumeClaimSpec.storageClassName", "StorageClass.storage.k8s.io", cluster},
	{"core.PersistentVolumeClaimSpec.volumeAttributesClassName", "VolumeAttributesClass.storage.k8s.io", cluster},
	{"core.PersistentVolumeSpec.claimRef", "PersistentVolumeClaim", "namespace"},
	{"core.PersistentVolumeSpec.storageClassName", "StorageClass.storage.k8s.io", cluster},
	{"core.PersistentVolumeSpec.volumeAttributesClassName", "VolumeAttributesClass.storage.k8s.io", cluster},
	{"core.AzureFilePersistentVolumeSource.secretName", "Secret", "secretNamespace"},
	{"core.GlusterfsPersistentVolumeSource.endpoints", "Endpoints", "endpointsNamespace"},
	{"core.StorageOSPersistentVolumeSource.secretRef", "Secret", "namespace"},
	{"storage.VolumeAttachmentSpec.nodeName", "Node", cluster},
	{"storage.VolumeAttachmentSource.persistentVolumeName", "PersistentVolume", cluster},
	{"storage.CSIStorageCapacity.storageClassName", "StorageClass.storage.k8s.io", cluster},

	// Services and routes.
	{"core.EndpointAddress.nodeName", "Node", cluster},
	{"discovery.Endpoint.nodeName", "Node", cluster},
	{"discovery.ForNode.name", "Node", cluster},
	{"networking.IngressServiceBackend.name", "Service", local},
	{"networking.IngressBackend.serviceName", "Service", local},
	{"networking.IngressTLS.secretName", "Secret", local},
	{"networking.IngressSpec.ingressClassName", "IngressClass.networking.k8s.io", cluster},
	{"networking.IngressClassParametersReference.name", written, "namespace"},
	{"extensions.IngressBackend.serviceName", "Service", local},
	{"extensions.IngressTLS.secretName", "Secret", local},
	{"extensions.IngressSpec.ingressClassName", "IngressClass.networking.k8s.io", cluster},

	// Who may do what.
	{"core.ServiceAccount.secrets", "Secret", local},
	{"core.ServiceAccount.imagePullSecrets", "Secret", local},
	{"rbac.RoleRef.name", "Role.rbac.authorization.k8s.io", local},
	{"rbac.RoleRef.name", "ClusterRole.rbac.authorization.k8s.io", cluster},
	{"rbac.Subject.name", "ServiceAccount", "namespace"},
	{"flowcontrol.ServiceAccountSubject.name", "ServiceAccount", "namespace"},
	{"flowcontrol.PriorityLevelConfigurationReference.name", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", cluster},
	{"certificates.PodCertificateRequestSpec.podName", "Pod", local},
	{"certificates.PodCertificateRequestSpec.serviceAccountName", "ServiceAccount", local},
	{"certificates.PodCertificateRequestSpec.nodeName", "Node", cluster},
	{"admissionregistration.ValidatingAdmissionPolicyBindingSpec.policyName", "ValidatingAdmissionPolicy.admissionregistration.k8s.io", cluster},
	{"admissionregistration.MutatingAdmissionPolicyBindingSpec.policyName", "MutatingAdmissionPolicy.admissionregistration.k8s.io", cluster},

	// Workloads, devices and the rest.
	{"apps.StatefulSetSpec.serviceName", "Service", local},
	{"scheduling.WorkloadReference.workloadName", "Workload.scheduling.k8s.io", local},
	{"scheduling.PodGroupSpec.parentCompositePodGroupName", "CompositePodGroup.scheduling.k8s.io", local},
	{"scheduling.CompositePodGroupSpec.parentCompositePodGroupName", "CompositePodGroup.scheduling.k8s.io", local},
	{"scheduling.PodGroupSpec.priorityClassName", "PriorityClass.scheduling.k8s.io", cluster},
	{"scheduling.PodGroupTemplate.priorityClassName", "PriorityClass.scheduling.k8s.io", cluster},
	{"scheduling.CompositePodGroupSpec.priorityClassName", "PriorityClass.scheduling.k8s.io", cluster},
	{"scheduling.CompositePodGroupTemplate.priorityClassName", "PriorityClass.scheduling.k8s.io", cluster},
	{"scheduling.PodGroupResourceClaim.resourceClaimName", "ResourceClaim.resource.k8s.io", local},
	{"scheduling.PodGroupResourceClaim.resourceClaimTemplateName", "ResourceClaimTemplate.resource.k8s.io", local},
	{"scheduling.WorkloadPodGroupResourceClaim.resourceClaimName", "ResourceClaim.resource.k8s.io", local},
	{"scheduling.WorkloadPodGroupResourceClaim.resourceClaimTemplateName", "ResourceClaimTemplate.resource.k8s.io", local},
	{"resource.DeviceRequest.deviceClassName", "DeviceClass.resource.k8s.io", cluster},
	{"resource.DeviceSubRequest.deviceClassName", "DeviceClass.resource.k8s.io", cluster},
	{"resource.ExactDeviceRequest.deviceClassName", "DeviceClass.resource.k8s.io", cluster},
	{"resource.ResourceSliceSpec.nodeName", "Node", cluster},
	{"resource.Device.nodeName", "Node", cluster},
	{"resource.BasicDevice.nodeName", "Node", cluster},
	{"coordination.LeaseCandidateSpec.leaseName", "Lease.coordination.k8s.io", local},
	{"lifecycle.EvictionPodReference.name", "Pod", local},
	{"lifecycle.EvictionRequestPodReference.name", "Pod", local},
	{"core.ConfigMapNodeConfigSource.name", "ConfigMap", "namespace"},
}

var byField = index(rules)

func index(rules []rule) map[string][]*rule {
	all := make(map[string][]*rule)
	for i := range rules {
		all[rules[i].field] = append(all[rules[i].field], &rules[i])
	}
	return all
}

// rulesFor returns the rules for a field of a struct. A type is known by its name: no API is linked for it.
func rulesFor(t reflect.Type, name string) []*rule {
	version, known := strings.CutPrefix(t.PkgPath(), "k8s.io/api/")
	if !known {
		return nil
	}
	return byField[path.Dir(version)+"."+t.Name()+"."+name]
}
