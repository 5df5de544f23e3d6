package refs

import (
	"path"
	"reflect"
	"strings"
)

// A rule says that fields name objects of a kind. A field has the name, or structs with the field
// "name".
type rule struct {
	kind string // Kind or Kind.group; a struct does not count if its "kind", or its "group" and "resource", name another one
	// namespace says where the object is. It is one of the constants, or the field with the
	// namespace. If that field is empty, the object is in the namespace of the referring object.
	// But if the reference states its kind, an empty string (not a pointer) means that the kind is
	// cluster-scoped.
	namespace string
	fields    string // of k8s.io/api: the group, the type in any of its versions, and the name in JSON
}

const (
	local   = ""  // in the namespace of the object that refers
	cluster = "-" // in none
	// written is the kind of a reference that states its kind, in "kind" and "apiGroup" or
	// "apiVersion".
	written = ""
)

// rules has all fields of k8s.io/api that name an object. If a field has a rule, the rules for the
// field's type do not apply in it.
var rules = []rule{
	{written, "namespace", "core.ObjectReference.name core.TypedObjectReference.name networking.IngressClassParametersReference.name"},
	{written, local, `
		core.TypedLocalObjectReference.name autoscaling.CrossVersionObjectReference.name scheduling.TypedLocalObjectReference.name
		authentication.BoundObjectReference.name`},
	{"ClusterRole.rbac.authorization.k8s.io", cluster, "rbac.RoleRef.name"},
	{"ClusterTrustBundle.certificates.k8s.io", cluster, "core.ClusterTrustBundleProjection.name"},
	{"CompositePodGroup.scheduling.k8s.io", local, "scheduling.PodGroupSpec.parentCompositePodGroupName scheduling.CompositePodGroupSpec.parentCompositePodGroupName"},
	{"ConfigMap", "namespace", "core.ConfigMapNodeConfigSource.name"},
	{"ConfigMap", local, "core.ConfigMapKeySelector.name core.ConfigMapEnvSource.name core.ConfigMapVolumeSource.name core.ConfigMapProjection.name"},
	{"DeviceClass.resource.k8s.io", cluster, "resource.DeviceRequest.deviceClassName resource.DeviceSubRequest.deviceClassName resource.ExactDeviceRequest.deviceClassName"},
	{"Endpoints", "endpointsNamespace", "core.GlusterfsPersistentVolumeSource.endpoints"},
	{"Endpoints", local, "core.GlusterfsVolumeSource.endpoints"},
	{"IngressClass.networking.k8s.io", cluster, "networking.IngressSpec.ingressClassName extensions.IngressSpec.ingressClassName"},
	{"Lease.coordination.k8s.io", local, "coordination.LeaseCandidateSpec.leaseName"},
	{"MutatingAdmissionPolicy.admissionregistration.k8s.io", cluster, "admissionregistration.MutatingAdmissionPolicyBindingSpec.policyName"},
	{"Node", cluster, `
		core.PodSpec.nodeName storage.VolumeAttachmentSpec.nodeName core.EndpointAddress.nodeName discovery.Endpoint.nodeName discovery.ForNode.name
		certificates.PodCertificateRequestSpec.nodeName resource.ResourceSliceSpec.nodeName resource.Device.nodeName resource.BasicDevice.nodeName`},
	{"PersistentVolume", cluster, "core.PersistentVolumeClaimSpec.volumeName storage.VolumeAttachmentSource.persistentVolumeName"},
	{"PersistentVolumeClaim", "namespace", "core.PersistentVolumeSpec.claimRef"},
	{"PersistentVolumeClaim", local, "core.PersistentVolumeClaimVolumeSource.claimName"},
	{"Pod", local, "certificates.PodCertificateRequestSpec.podName lifecycle.EvictionPodReference.name lifecycle.EvictionRequestPodReference.name"},
	{"PodGroup.scheduling.k8s.io", local, "core.PodSchedulingGroup.podGroupName"},
	{"PriorityClass.scheduling.k8s.io", cluster, `
		core.PodSpec.priorityClassName scheduling.PodGroupSpec.priorityClassName scheduling.PodGroupTemplate.priorityClassName
		scheduling.CompositePodGroupSpec.priorityClassName scheduling.CompositePodGroupTemplate.priorityClassName`},
	{"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", cluster, "flowcontrol.PriorityLevelConfigurationReference.name"},
	{"ResourceClaim.resource.k8s.io", local, `
		core.PodResourceClaim.resourceClaimName scheduling.PodGroupResourceClaim.resourceClaimName scheduling.WorkloadPodGroupResourceClaim.resourceClaimName`},
	{"ResourceClaimTemplate.resource.k8s.io", local, `
		core.PodResourceClaim.resourceClaimTemplateName scheduling.PodGroupResourceClaim.resourceClaimTemplateName
		scheduling.WorkloadPodGroupResourceClaim.resourceClaimTemplateName`},
	{"Role.rbac.authorization.k8s.io", local, "rbac.RoleRef.name"},
	{"RuntimeClass.node.k8s.io", cluster, "core.PodSpec.runtimeClassName"},
	{"Secret", "namespace", "core.SecretReference.name core.StorageOSPersistentVolumeSource.secretRef"},
	{"Secret", "secretNamespace", "core.AzureFilePersistentVolumeSource.secretName"},
	{"Secret", local, `
		core.PodSpec.imagePullSecrets core.SecretKeySelector.name core.SecretEnvSource.name core.SecretVolumeSource.secretName core.SecretProjection.name
		core.AzureFileVolumeSource.secretName core.CSIVolumeSource.nodePublishSecretRef core.CephFSVolumeSource.secretRef core.CinderVolumeSource.secretRef
		core.FlexVolumeSource.secretRef core.ISCSIVolumeSource.secretRef core.RBDVolumeSource.secretRef core.ScaleIOVolumeSource.secretRef
		core.StorageOSVolumeSource.secretRef networking.IngressTLS.secretName extensions.IngressTLS.secretName core.ServiceAccount.secrets
		core.ServiceAccount.imagePullSecrets`},
	{"Service", "namespace", "admissionregistration.ServiceReference.name networking.ParentReference.name"},
	{"Service", local, "networking.IngressServiceBackend.name networking.IngressBackend.serviceName extensions.IngressBackend.serviceName apps.StatefulSetSpec.serviceName"},
	{"ServiceAccount", "namespace", "rbac.Subject.name flowcontrol.ServiceAccountSubject.name"},
	{"ServiceAccount", local, "core.PodSpec.serviceAccountName certificates.PodCertificateRequestSpec.serviceAccountName"},
	{"StorageClass.storage.k8s.io", cluster, `
		core.PersistentVolumeClaimSpec.storageClassName core.PersistentVolumeSpec.storageClassName storage.CSIStorageCapacity.storageClassName`},
	{"ValidatingAdmissionPolicy.admissionregistration.k8s.io", cluster, "admissionregistration.ValidatingAdmissionPolicyBindingSpec.policyName"},
	{"VolumeAttributesClass.storage.k8s.io", cluster, "core.PersistentVolumeClaimSpec.volumeAttributesClassName core.PersistentVolumeSpec.volumeAttributesClassName"},
	{"Workload.scheduling.k8s.io", local, "scheduling.WorkloadReference.workloadName"},
}

// byField has a rule of its own for each field.
var byField = index(rules)

func index(rules []rule) map[string][]*rule {
	all := make(map[string][]*rule)
	for _, r := range rules {
		for field := range strings.FieldsSeq(r.fields) {
			all[field] = append(all[field], &rule{r.kind, r.namespace, field})
		}
	}
	return all
}

// rulesFor returns the rules for a field of a struct. It identifies types by name, so that no API
// package is linked.
func rulesFor(t reflect.Type, name string) []*rule {
	version, known := strings.CutPrefix(t.PkgPath(), "k8s.io/api/")
	if !known {
		return nil
	}
	return byField[path.Dir(version)+"."+t.Name()+"."+name]
}
